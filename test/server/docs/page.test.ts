import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApiDocument, operationNames, operationRow } from '../../../src/contract/index.ts';
import { docsPage } from '../../../src/server/docs/page.ts';
import { expectCommonHeaders } from '../envelope.ts';
import { ask, world, type World } from '../make.ts';

const document = openApiDocument();
const page = docsPage(document);

describe('the page of operations', () => {
  it.each(operationNames)('describes %s: where, with what permission, and each of its errors', (name) => {
    const { method, path, permission } = operationRow(name);
    const id = `op-${name.replaceAll('.', '-')}`;
    const article = page.slice(page.indexOf(`<article aria-labelledby="${id}">`)).split('</article>')[0]!;
    const text = article.replaceAll(/<[^>]+>/g, '');
    expect(text).toContain(name);
    expect(text).toContain(path);
    expect(article).toContain(`<span class="method ${method.toLowerCase()}">${method}</span>`);
    if (permission !== undefined) expect(text).toContain(permission);
    const described = document.paths[path]?.[method.toLowerCase()];
    for (const status of Object.keys(described?.responses ?? {})) expect(text).toContain(status);
  });

  it('shows every schema with its members', () => {
    for (const [name, schema] of Object.entries(document.components['schemas'] ?? {})) {
      const section = page.split(`<h3 id="schema-${name}">`)[1]?.split('</section>')[0];
      const { properties = {} } = schema as { properties?: object };
      for (const member of Object.keys(properties))
        expect(section, name).toContain(`<code class="name">${member}</code>`);
    }
  });

  it('leads with each of its links to an element of its own, each id once', () => {
    const ids = Array.from(page.matchAll(/ id="([^"]+)"/g), ([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
    for (const [, target] of page.matchAll(/aria-labelledby="([^"]+)"/g)) expect(ids).toContain(target);
  });

  it('needs no network and no script', () => {
    expect(page).not.toMatch(/<script|<link|<img|<iframe|<object|@import|url\(|javascript:| on[a-z]+=/i);
    const links = Array.from(page.matchAll(/(?:href|src|action)="([^"#][^"]*)"/g), ([, link]) => link);
    expect(new Set(links)).toEqual(new Set(['/openapi.json']));
  });

  it('is well-formed: every element is closed in order', () => {
    const open: string[] = [];
    const empty = new Set(['meta', 'wbr', 'br']);
    for (const [, slash, name = ''] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
      if (slash === '/') expect(open.pop()).toBe(name);
      else if (!empty.has(name)) open.push(name);
    }
    expect(open).toEqual([]);
  });

  it('takes text of the document for text, never for HTML', () => {
    const hostile = { ...document, info: { ...document.info, title: '<script>alert("1")</script>' } };
    expect(docsPage(hostile)).not.toContain('<script');
    expect(docsPage(hostile)).toContain('&lt;script&gt;alert(&quot;1&quot;)');
  });
});

describe('/docs', () => {
  let here: World;
  beforeAll(async () => {
    here = await world();
  });
  afterAll(() => here.close());

  it('serves it without a token, under a policy that allows its own style and nothing else', async () => {
    const response = await ask(here, '/docs');
    expectCommonHeaders(response);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const text = await response.text();
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? '';
    const digest = createHash('sha256').update(style).digest('base64');
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(text.match(/<style|style=/g)).toEqual(['<style']);
    expect((await ask(here, '/docs', { method: 'POST' })).status).toBe(405);
  });
});
