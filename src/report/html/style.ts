/** The style of every page. It contains nothing of a report. */
export const REPORT_CSS = `:root{color-scheme:light dark;--text:#1b1f24;--soft:#545d68;--back:#fff;--box:#f5f7f9;--line:#d0d7de;--good:#116329;--bad:#a40e26;--open:#774a00;--idle:#545d68;--mark:#fff1f0;--link:#0a53a8}
@media screen and (prefers-color-scheme:dark){:root{--text:#e6edf3;--soft:#9aa4af;--back:#0d1117;--box:#161b22;--line:#3a424c;--good:#56d364;--bad:#ff8d85;--open:#e3b341;--idle:#9aa4af;--mark:#2d1517;--link:#7ab8ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;-webkit-text-size-adjust:100%}
main{max-width:76rem;margin:0 auto;padding:1.5rem 1rem 4rem}
p,li,.finding dd{max-width:52rem}
main:has(>.totals){display:flex;flex-direction:column}main:has(>.totals) h1{order:-2}.totals{order:-1;margin-bottom:1.5rem}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 1rem}
h2{font-size:1.25rem;margin:2.5rem 0 .75rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}
h3{font-size:1.02rem;margin:1.5rem 0 .4rem}
p{margin:.4rem 0}
a{color:var(--link)}
.soft{color:var(--soft)}
.running{display:none}
.verdict{font-size:1.15rem;border:2px solid currentcolor;border-radius:.5rem;padding:.75rem 1rem;margin:0 0 1rem}
.verdict p,.verdict dl{color:var(--text);font-size:1rem}.verdict dd .state{display:flex;align-items:baseline;font-weight:400;white-space:normal}.verdict dd svg{transform:translateY(.15em)}
.verdict.good{color:var(--good)}.verdict.bad{color:var(--bad)}.verdict.open{color:var(--open)}.verdict.idle{color:var(--idle)}
.verdict>.state{text-transform:uppercase;letter-spacing:.04em;white-space:normal;margin-right:.5em}
.state{display:inline-flex;align-items:center;gap:.4em;font-weight:600;white-space:nowrap;vertical-align:middle}
.verdict code,h3 code{vertical-align:middle}
.state svg{flex:none;width:1.1em;height:1.1em;fill:none;stroke:currentcolor;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}
.good{color:var(--good)}.bad{color:var(--bad)}.open{color:var(--open)}.idle{color:var(--idle)}
code{font:.88em/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--box);border:1px solid var(--line);border-radius:.25rem;padding:.05em .3em;overflow-wrap:anywhere;unicode-bidi:isolate;-webkit-box-decoration-break:clone;box-decoration-break:clone}
pre{margin:.4rem 0;padding:.6rem .75rem;background:var(--box);border:1px solid var(--line);border-radius:.4rem;white-space:pre-wrap;overflow-wrap:anywhere}
pre code{border:0;padding:0;background:none}
dl{display:grid;grid-template-columns:minmax(7rem,max-content) minmax(0,1fr);gap:.3rem 1rem;margin:.5rem 0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
figure{margin:.5rem 0}
ul{padding-left:1.2rem}
.chain{list-style:none;margin:0;padding:0;counter-reset:link}
.chain li{position:relative;margin:0;padding:.5rem .5rem .9rem 2.6rem;counter-increment:link}
.chain li::before{content:counter(link);position:absolute;left:.25rem;top:.45rem;width:1.7rem;height:1.7rem;border:2px solid currentcolor;border-radius:50%;background:var(--back);color:var(--idle);font-size:.85rem;line-height:1.5rem;text-align:center;z-index:1}
.chain li.good::before{color:var(--good)}.chain li.bad::before{color:var(--bad)}.chain li.open::before{color:var(--open)}
.chain li:not(:last-child)::after{content:"";position:absolute;left:1.05rem;top:2.1rem;bottom:-.5rem;border-left:2px dotted var(--line)}
.chain li.good:not(:last-child)::after{border-left:2px solid var(--good)}
.chain li.good,.chain li.bad,.chain li.open,.chain li.idle{color:inherit}
.chain .first{background:var(--mark);outline:2px solid var(--bad);outline-offset:-1px;border-radius:.4rem}
.chain p{margin:.1rem 0}
.head{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.2rem 1rem}
.finding{border:1px solid var(--line);border-left:4px solid var(--idle);border-radius:.4rem;padding:.6rem .9rem;margin:.75rem 0}
.finding.bad{border-left-color:var(--bad);color:inherit}.finding.open{border-left-color:var(--open);color:inherit}.finding.idle{color:inherit}
.finding h3{margin-top:.2rem}
.case{border-top:1px solid var(--line);padding-top:.4rem;margin-top:.5rem}
time,time span{white-space:nowrap}
time:has(span){white-space:normal}
button,input{font:inherit;color:var(--text);background:var(--back);border:1px solid var(--soft);border-radius:.4rem;padding:.3rem .7rem}
button{cursor:pointer}
button:hover:not(:disabled){border-color:var(--link)}
button:disabled{opacity:.55;cursor:default}
[aria-pressed=true]{background:var(--link);border-color:var(--link);color:var(--back)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.small{font:400 .8rem/1.2 system-ui,sans-serif;padding:.1rem .45rem;border-color:var(--line);vertical-align:middle}
.controls{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;margin:.6rem 0}
[hidden]{display:none!important}
summary{cursor:pointer}
.section{margin:2.5rem 0 .75rem}
.section>summary{border-bottom:1px solid var(--line);padding-bottom:.25rem}
.section>summary h2{display:inline;border:0}
:target{background:var(--mark)}
#part tbody th{min-width:17.5rem}#part th code{font-size:.78rem}#part th code:first-child{white-space:nowrap}#part td time,#part td time span{display:block}
.scroll{overflow-x:auto;max-width:100%}
.scroll:focus-visible{outline:2px solid var(--link);outline-offset:2px}
table{border-collapse:collapse;width:100%;font-size:.92rem}
caption{text-align:left;color:var(--soft);padding-bottom:.3rem}
th,td{text-align:left;vertical-align:top;padding:.35rem .6rem .35rem 0;border-bottom:1px solid var(--line)}
thead th{border-bottom-width:2px}
td .state{white-space:normal;align-items:baseline}
td dl{display:block}
tbody th{font-weight:400}
thead .number{white-space:normal}
td:has(code),tbody th:has(code){min-width:8rem}
.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.plot{width:100%;height:auto;display:block}
.plot text{fill:var(--text);font:12px system-ui,sans-serif}
.plot .soft{fill:var(--soft)}
.plot .axis{stroke:var(--line)}
.plot .window{fill:var(--good);fill-opacity:.22;stroke:var(--good)}
.plot .after{fill:var(--bad);fill-opacity:.16;stroke:var(--bad);stroke-dasharray:3 3}
.plot .issue{stroke:var(--text);stroke-width:1.5}
.plot .now{stroke:var(--link);stroke-width:1.5;stroke-dasharray:5 3}
.plot .track{fill:var(--box);stroke:var(--line)}
img.plot{border:1px solid var(--line);border-radius:.4rem}
@media screen and (max-width:60rem){#part{font-size:.8rem}#part td{min-width:4.4rem;padding-right:.4rem}#part td.number{min-width:0}#part tbody th{min-width:12rem}#part code{font-size:.74rem}}
@media (max-width:32rem){main{padding:1rem .75rem 3rem}h1{font-size:1.4rem}dl{grid-template-columns:minmax(0,1fr);gap:0}dd{margin:0 0 .5rem}}
@media screen and (max-width:32rem){figure>svg.plot text{font-size:20px}
table,caption,tbody,tr,tbody th,td{display:block}
thead{display:none}
tr{border-bottom:1px solid var(--line);padding:.4rem 0}
tbody th,td{border:0;padding:.1rem .4rem .1rem 0;min-width:0}
tbody th{font-weight:600}
.scroll{overflow:visible}
td::before{content:attr(data-title) ": ";color:var(--soft)}
td:empty{display:none}
#part{font-size:.92rem}#part tbody th,#part td{min-width:0}
.number{text-align:left}}
@media print{:root{color-scheme:light;--text:#000;--soft:#444;--line:#bbb}
@page{margin:12mm 14mm 18mm;font:8pt system-ui,sans-serif;@bottom-right{content:"Page " counter(page) " of " counter(pages)}}
button,label,#part-controls>:not([role]){display:none}
summary{list-style:none}
.section::details-content{content-visibility:visible;display:block}
#part tbody th{min-width:6cm}#part th code,#part a code{font-size:6.6pt}#part a code{overflow-wrap:normal}#part td{min-width:1.7cm}
body{font-size:10pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}
main{max-width:none;padding:8mm 0 0;-webkit-box-decoration-break:clone;box-decoration-break:clone}
.running{display:block;position:fixed;top:0;left:0;font-size:8pt}
h2,h3,summary{break-after:avoid}
.case,.chain li,tr,.plot,.verdict,dd,pre{break-inside:avoid}
.finding>p,p:has(+pre){break-after:avoid}
thead{display:table-header-group}caption,thead{break-after:avoid}
.scroll{overflow:visible}
td:has(code),tbody th:has(code){min-width:6.5rem}
table{font-size:8.5pt}}
`;
