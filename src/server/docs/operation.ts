import type { OpenApiDocument } from '../../contract/index.ts';
import { anchor, markup, inline, prose, type Html } from './html.ts';
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
  path.split('/').flatMap((step, i) => (i === 0 ? [] : [markup`<wbr />/${step}`]));

function parameterRow(document: OpenApiDocument, value: unknown): Html {
  const parameter = resolved(document, value);
  const about = textOf(parameter['description']);
  return markup`<tr>
    <td>
      <code class="name">${textOf(parameter['name'])}</code
      >${parameter['required'] === true ? '' : markup` <span class="optional">optional</span>`}
    </td>
    <td>${textOf(parameter['in'])}</td>
    <td>${typeOf(parameter['schema'])}${about === undefined ? '' : markup`<br />${inline(about)}`}</td>
  </tr>`;
}

function parameters(document: OpenApiDocument, operation: Members): Html {
  const rows = itemsOf(operation['parameters']).map((one) => parameterRow(document, one));
  if (rows.length === 0) return markup``;
  return markup`<h4>Parameters</h4>
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
    return markup`<code>${mediaType}</code>${shown ? markup` ${typeOf(schema)}` : ''}`;
  });
}

function body(operation: Members): Html {
  const request = membersOf(operation['requestBody']);
  if (!('content' in request)) return markup``;
  return markup`<h4>Body</h4>
    <p>${content(request['content'])}</p>`;
}

function responseRow(document: OpenApiDocument, status: string, value: unknown): Html {
  const response = resolved(document, value);
  const failed = Number(status) >= 400;
  return markup`<tr${failed ? markup` class="failed"` : ''}>
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
  return markup`<h4>Answers</h4>
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

/** What one should know of an operation before calling it. */
function factsOf(operation: Members): Html[] {
  const permission = textOf(operation['x-drillproof-permission']);
  return [
    ...(permission === undefined ? [] : [markup`<span>permission <code>${permission}</code></span>`]),
    ...(itemsOf(operation['security']).length === 0 && 'security' in operation
      ? [markup`<span>no token</span>`]
      : []),
    ...(operation['x-drillproof-extension'] === true
      ? [markup`<span>extension of the specification</span>`]
      : []),
  ];
}

/** What the document says of one operation. */
export function operationSection(document: OpenApiDocument, described: Described): Html {
  const { method, path, operation } = described;
  const [id, name, facts] = [anchor('op', nameOf(described)), nameOf(described), factsOf(operation)];
  const about = textOf(operation['description']);
  return markup`<article aria-labelledby="${id}">
    <h3 id="${id}">${name} <a class="here" href="#${id}" aria-label="Link to ${name}">#</a></h3>
    <p class="call"><span class="method ${method.toLowerCase()}">${method}</span> <code>${breakable(path)}</code></p>
    <p>${inline(textOf(operation['summary']) ?? '')}</p>
    ${about === undefined ? '' : prose(about)}
    ${facts.length === 0 ? '' : markup`<p class="facts">${facts}</p>`}
    ${parameters(document, operation)}
    ${body(operation)}
    ${responses(document, operation)}
  </article>`;
}
