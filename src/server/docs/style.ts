/** The style of the page. It stands in the page itself, so that nothing has to be fetched; its digest is in the CSP. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: light-dark(#fff, #14171c);
  --panel: light-dark(#f5f6f8, #1c2027);
  --text: light-dark(#1b1f26, #e4e7ec);
  --quiet: light-dark(#59616e, #9aa4b2);
  --line: light-dark(#dde1e7, #313843);
  --link: light-dark(#0b57b8, #7db4ff);
  --get: light-dark(#0b6b3a, #6fd19b);
  --post: light-dark(#8a4b00, #f0b35e);
  --put: light-dark(#6d3bb3, #c7a2ff);
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
a { color: var(--link); text-underline-offset: 0.15em; }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible {
  outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px;
}
code { font: 0.88em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--page); padding: 0.25rem 0.5rem; }
.frame { display: grid; grid-template-columns: minmax(0, 1fr); max-width: 78rem; margin: 0 auto; }
nav { padding: 1rem 1.25rem; background: var(--panel); border-bottom: 1px solid var(--line); }
nav h2 { font-size: 0.8rem; margin: 1.1rem 0 0.3rem; color: var(--quiet); font-weight: 600; }
nav h2::first-letter { text-transform: uppercase; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { margin: 0.1rem 0; }
nav li a { text-decoration: none; display: inline-block; padding: 0.1rem 0; font-size: 0.88rem; overflow-wrap: anywhere; }
nav li a:hover { text-decoration: underline; }
main { padding: 1.5rem 1.25rem 4rem; min-width: 0; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 0.5rem; text-wrap: balance; }
main > h2, main > section > h2 { font-size: 1.25rem; margin: 3rem 0 0; padding-bottom: 0.3rem; border-bottom: 1px solid var(--line); }
main h2::first-letter { text-transform: uppercase; }
h3 { font-size: 1.08rem; margin: 0 0 0.4rem; overflow-wrap: anywhere; }
h4 { font-size: 0.82rem; margin: 1.2rem 0 0.35rem; color: var(--quiet); }
p { margin: 0.35rem 0; max-width: 68ch; }
article, .schema { padding: 1.5rem 0; border-bottom: 1px solid var(--line); }
article:last-child, .schema:last-child { border-bottom: 0; }
.here { color: var(--quiet); text-decoration: none; font-weight: 400; opacity: 0; }
h3:hover .here, .here:focus { opacity: 1; }
.call { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 0.45rem 0.7rem; max-width: none; margin: 0.5rem 0 0.8rem; }
.method { font: 700 0.78rem ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; margin-right: 0.4rem; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); }
.facts { color: var(--quiet); font-size: 0.9rem; }
.facts span:not(:last-child)::after { content: " \\b7  "; white-space: pre; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.92rem; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.8rem 0.4rem 0; border-top: 1px solid var(--line); }
thead th { border-top: 0; color: var(--quiet); font-weight: 500; font-size: 0.85rem; }
.answers th { width: 3.5rem; }
.answers p { margin: 0 0 0.2rem; }
td > code + p, td > a + p { margin-top: 0.15rem; }
details { margin: 0.5rem 0 0; }
summary { cursor: pointer; color: var(--link); width: fit-content; font-size: 0.92rem; }
.optional { color: var(--quiet); font-size: 0.82rem; }
.type, .pattern { color: var(--quiet); }
.about { display: block; }
.members { list-style: none; margin: 0.3rem 0 0; padding: 0; font-size: 0.92rem; }
.members li { padding: 0.28rem 0; border-top: 1px solid var(--line); }
.members .members { margin-left: 0.25rem; padding-left: 0.9rem; border-left: 2px solid var(--line); }
.members .members li:first-child { border-top: 0; }
.name { font-weight: 600; }
@media (max-width: 59.99rem) {
  nav ul { columns: 11rem; }
  nav .schemas, nav .schemas + ul { display: none; }
}
@media (min-width: 60rem) {
  .frame { grid-template-columns: 18.5rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-bottom: 0; border-right: 1px solid var(--line); }
  main { padding: 2rem 2.5rem 5rem; }
  .wide th:nth-child(1) { width: 13rem; } .wide th:nth-child(2) { width: 5rem; }
}
@media print { nav { display: none; } details { display: block; } }
`;
