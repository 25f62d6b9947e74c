import { createHash } from 'node:crypto';
import type { OpenApiDocument } from '../../contract/index.ts';
import { anchor, markup, prose, type Html } from './html.ts';
import { itemsOf } from './json.ts';
import { describedOperations, nameOf, operationSection, type Described } from './operation.ts';
import { schemaSection } from './schema.ts';
import { STYLE } from './style.ts';

const styleDigest = createHash('sha256').update(STYLE).digest('base64');

// Nothing is fetched and nothing runs: one style, known by its digest.
const CSP = [
  "default-src 'none'",
  `style-src 'sha256-${styleDigest}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

type Group = { readonly name: string; readonly operations: readonly Described[] };

/** Operations by their area, in the order of the document. */
function groups(document: OpenApiDocument): Group[] {
  const all = describedOperations(document);
  return document.tags
    .map(({ name }) => ({
      name,
      operations: all.filter(({ operation }) => itemsOf(operation['tags']).includes(name)),
    }))
    .filter(({ operations }) => operations.length > 0);
}

// A long name may break after a dot, and nowhere else.
const breakable = (name: string): Html[] =>
  name.split('.').map((part, i) => (i === 0 ? markup`${part}` : markup`.<wbr />${part}`));

const links = (prefix: string, names: readonly string[]): Html =>
  markup`<ul>${names.map((name) => markup`<li><a href="#${anchor(prefix, name)}">${breakable(name)}</a></li>`)}</ul>`;

const navigation = (all: readonly Group[], schemas: readonly string[]): Html =>
  markup` <nav aria-label="Contents">
    ${all.map(
      ({ name, operations }) =>
        markup`<h2>${name}</h2>
          ${links('op', operations.map(nameOf))}`,
    )}
    <h2 class="schemas">schemas</h2>
    ${links('schema', schemas)}
  </nav>`;

const groupSection = (document: OpenApiDocument, { name, operations }: Group): Html =>
  markup` <section aria-labelledby="${anchor('area', name)}">
    <h2 id="${anchor('area', name)}">${name}</h2>
    ${operations.map((one) => operationSection(document, one))}
  </section>`;

/** The page of a document, whole and self-contained. */
export function docsPage(document: OpenApiDocument): string {
  const { title, version, description } = document.info;
  const all = groups(document);
  const schemas = Object.entries(document.components['schemas'] ?? {});
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>${{ html: STYLE }}</style>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <div class="frame">
          ${navigation(
            all,
            schemas.map(([name]) => name),
          )}
          <main id="content">
            <h1>${title}</h1>
            <p class="facts">
              <span>version ${version}</span><span><a href="/openapi.json">OpenAPI 3.1 document</a></span>
            </p>
            ${prose(description)} ${all.map((group) => groupSection(document, group))}
            <section aria-labelledby="schemas">
              <h2 id="schemas">schemas</h2>
              ${schemas.map(([name, schema]) => schemaSection(name, schema))}
            </section>
          </main>
        </div>
      </body>
    </html> `.html;
}

/** The page as an answer: it may load nothing, run nothing and stand in no frame. */
export const docsAnswer = (document: OpenApiDocument) => ({
  body: docsPage(document),
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': CSP,
    'Referrer-Policy': 'no-referrer',
  },
});
