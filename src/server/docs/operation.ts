import type { OpenApiDocument } from '../../contract/index.ts';
import { anchor, html, inline, prose, type Html } from './html.ts';
import { itemsOf, membersOf, resolved, textOf, type Members } from './json.ts';
import { typeOf } from './schema.ts';

/** One operation of the document, with where it stands. */
export type Described = { readonly method: string; readonly path: string; readonly operation: Members };

/** All operations, in the order of the document. */
export const describedOperations = (document: OpenApiDocument): Described[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: membersOf(operation),
    })),
  );

export const nameOf = ({ operation }: Described): string => textOf(operation['operationId']) ?? '';

// A long path may break after each slash.
const breakable = (path: string): Html[] =>
  path.split('/').flatMap((step, i) => (i === 0 ? [] : [html`<wbr />/${step}`]));

function parameterRow(document: OpenApiDocument, value: unknown): Html {
  const parameter = resolved(document, value);
  const about = textOf(parameter['description']);
  return html`<tr>
    <td>
      <code class="name">${textOf(parameter['name'])}</code
      >${parameter['required'] === true ? '' : html` <span class="optional">optional</span>`}
    </td>
    <td>${textOf(parameter['in'])}</td>
    <td>${typeOf(parameter['schema'])}${about === undefined ? '' : html`<br />${inline(about)}`}</td>
  </tr>`;
}

function parameters(document: OpenApiDocument, operation: Members): Html {
  const rows = itemsOf(operation['parameters']).map((one) => parameterRow(document, one));
  if (rows.length === 0) return html``;
  return html`<h4>Parameters</h4>
    <div class="wide" tabindex="0" role="region" aria-label="Parameters">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">In</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}

function content(value: unknown): Html[] {
  return Object.entries(membersOf(value)).map(([mediaType, media]) => {
    const { schema } = membersOf(media);
    const shown = Object.keys(membersOf(schema)).length > 0;
    return html`<code>${mediaType}</code>${shown ? html` ${typeOf(schema)}` : ''}`;
  });
}

function body(operation: Members): Html {
  const request = membersOf(operation['requestBody']);
  if (!('content' in request)) return html``;
  return html`<h4>Body</h4>
    <p>${content(request['content'])}</p>`;
}

function responseRow(document: OpenApiDocument, status: string, value: unknown): Html {
  const response = resolved(document, value);
  const failed = Number(status) >= 400;
  return html`<tr${failed ? html` class="failed"` : ''}>
<th scope="row"><code>${status}</code></th>
<td>${failed ? '' : content(response['content'])}${prose(textOf(response['description']) ?? '')}</td>
</tr>`;
}

function responses(document: OpenApiDocument, operation: Members): Html {
  const all = Object.entries(membersOf(operation['responses']));
  const rows = (failed: boolean) =>
    all
      .filter(([status]) => Number(status) >= 400 === failed)
      .map(([status, response]) => responseRow(document, status, response));
  return html`<h4>Answers</h4>
    <table class="answers">
      <tbody>
        ${rows(false)}
      </tbody>
    </table>
    <details>
      <summary>Errors</summary>
      <p>Each is answered with the <a href="#schema-ErrorEnvelope">error envelope</a>.</p>
      <table class="answers">
        <tbody>
          ${rows(true)}
        </tbody>
      </table>
    </details>`;
}

/** What the document says of one operation. */
export function operationSection(document: OpenApiDocument, described: Described): Html {
  const { method, path, operation } = described;
  const id = anchor('op', nameOf(described));
  const permission = textOf(operation['x-drillproof-permission']);
  const open = Array.isArray(operation['security']) && operation['security'].length === 0;
  const about = textOf(operation['description']);
  return html` <article aria-labelledby="${id}">
    <h3 id="${id}">
      ${nameOf(described)} <a class="here" href="#${id}" aria-label="Link to ${nameOf(described)}">#</a>
    </h3>
    <p class="call">
      <span class="method ${method.toLowerCase()}">${method}</span> <code>${breakable(path)}</code>
    </p>
    <p>${inline(textOf(operation['summary']) ?? '')}</p>
    ${about === undefined ? '' : prose(about)}
    <p class="facts">
      ${[
        permission === undefined ? '' : html`<span>permission <code>${permission}</code></span>`,
        open ? html`<span>no token</span>` : '',
        operation['x-drillproof-extension'] === true ? html`<span>extension of the specification</span>` : '',
      ]}
    </p>
    ${parameters(document, operation)} ${body(operation)} ${responses(document, operation)}
  </article>`;
}
