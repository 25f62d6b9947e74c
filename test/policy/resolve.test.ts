import { describe, expect, it } from 'vitest';
import { digestOf, type Digest } from '../../src/bytes/hash.ts';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { DrillproofError } from '../../src/errors.ts';
import { policyDigest } from '../../src/policy/policy.ts';
import { MAX_POLICY_BYTES, parsePolicy, type PolicyFile, readPolicy } from '../../src/policy/resolve.ts';
import { documentOf } from './make.ts';

type Parent = { readonly path: string; readonly digest: Digest };

function fileOf(path: string, parents: readonly Parent[] = [], rest: object = {}): PolicyFile {
  const document = documentOf({ ...(parents.length > 0 && { extends: parents }), ...rest });
  return { path, bytes: toUtf8(JSON.stringify(document)) };
}
const parentOf = ({ path, bytes }: PolicyFile): Parent => ({ path, digest: digestOf(bytes) });

/** Reads the first file as the policy, and lists which others were opened, and from where. */
async function readFiles(top: PolicyFile, others: readonly PolicyFile[] = []) {
  const opened: (readonly [string, string])[] = [];
  const policy = readPolicy(top, async (path, from) => {
    opened.push([path, from]);
    const file = others.find((other) => other.path === path);
    if (file === undefined) throw new RangeError(path);
    return file;
  });
  const [result] = await Promise.allSettled([policy]);
  return { result, opened };
}

async function errorOf(top: PolicyFile, others: readonly PolicyFile[] = []) {
  const { result, opened } = await readFiles(top, others);
  if (result.status === 'fulfilled') throw new Error('it was read');
  return { error: result.reason as unknown, opened };
}

describe('a policy and what it extends', () => {
  it('are layers, the extended first, each with its digest', async () => {
    const base = fileOf('base.json', [], { name: 'base' });
    const other = fileOf('other.json', [], { outcome: { verdict: ['passed'] } });
    const middle = fileOf('middle.json', [parentOf(base)]);
    const top = fileOf('top.json', [parentOf(middle), parentOf(other)], { name: 'top' });
    const { result, opened } = await readFiles(top, [base, other, middle]);
    const files = [base, middle, other, top];
    const layers = files.map(({ path, bytes }) => parsePolicy(bytes, path));
    expect(result).toEqual({
      status: 'fulfilled',
      value: {
        name: 'top',
        digest: policyDigest(layers),
        layers,
        sources: files.map(parentOf),
        locate: expect.any(Function),
      },
    });
    expect(opened).toEqual([
      ['middle.json', 'top.json'],
      ['base.json', 'middle.json'],
      ['other.json', 'top.json'],
    ]);
  });

  it('have the name of the file if the policy has no name', async () => {
    const top = fileOf('rules/top.json');
    expect(await readPolicy(top, () => Promise.reject(new Error('nothing is extended')))).toMatchObject({
      name: 'rules/top.json',
    });
  });

  it('include once a parent that two of them extend', async () => {
    const base = fileOf('base.json');
    const children = ['one', 'two'].map((name) => fileOf(`${name}.json`, [parentOf(base)], { name }));
    const top = fileOf('top.json', children.map(parentOf));
    const { result, opened } = await readFiles(top, [base, ...children]);
    expect(result).toMatchObject({
      value: { sources: ['base.json', 'one.json', 'two.json', 'top.json'].map((path) => ({ path })) },
    });
    expect(opened.map(([path]) => path)).toEqual(['one.json', 'base.json', 'two.json']);
  });
});

/** 64 policies: one extends four, three of which extend 15 each and the last 14. The first also extends `more`. */
function tree(...more: readonly PolicyFile[]): readonly [PolicyFile, readonly PolicyFile[]] {
  const middles: PolicyFile[] = [];
  const all = [...more];
  for (const m of ['a', 'b', 'c', 'd']) {
    const leaves = Array.from({ length: m === 'd' ? 14 : 15 }, (_, n) =>
      fileOf(`${m}${n}.json`, [], { name: `${m}${n}` }),
    );
    const middle = fileOf(`${m}.json`, leaves.map(parentOf));
    middles.push(middle);
    all.push(...leaves, middle);
  }
  return [fileOf('top.json', [...middles, ...more].map(parentOf)), all];
}

it('a policy may extend 63 others, and no more', async () => {
  expect((await readFiles(...tree())).result).toMatchObject({
    status: 'fulfilled',
    value: { layers: { length: 64 } },
  });
  const { error } = await errorOf(...tree(fileOf('e.json')));
  expect(error).toMatchObject({ code: 'policy.EXTENDS_EXCEEDED', path: 'e.json' });
});

describe('an extended policy', () => {
  it.each(['/etc/p.json', '~/p.json', 'a\\p.json', 'C:p.json', 'https://x.example/p.json', 'a\0.json'])(
    'is not opened at %j',
    async (path) => {
      const top = fileOf('top.json', [{ ...parentOf(fileOf('p.json')), path }]);
      const { error, opened } = await errorOf(top, [fileOf(path)]);
      expect(error).toMatchObject({ code: 'policy.INVALID' });
      expect(opened).toEqual([]);
    },
  );

  it.each(['../p.json', 'a/b/p.json', 'a~b/~p.json', 'a/b:c.json', './p.json', '1:p.json'])(
    'is opened at %j',
    async (path) => {
      const { result } = await readFiles(fileOf('top.json', [{ ...parentOf(fileOf('p.json')), path }]), [
        { ...fileOf('p.json'), path },
      ]);
      expect(result).toMatchObject({ status: 'fulfilled' });
    },
  );

  it('is refused if its bytes do not match the digest in the policy that extends it', async () => {
    const [before, after] = [fileOf('p.json', [], { name: 'one' }), fileOf('p.json', [], { name: 'other' })];
    const top = fileOf('top.json', [parentOf(fileOf('q.json')), parentOf(before)]);
    const { error } = await errorOf(top, [fileOf('q.json'), after]);
    const details = { expected: digestOf(before.bytes) };
    expect(error).toMatchObject({ code: 'policy.EXTENDS_MISMATCH', details });
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain(digestOf(after.bytes).slice(7));
  });

  it('is refused if it is too large, whatever its digest', async () => {
    const padded = (to: number): PolicyFile => {
      const { path, bytes } = fileOf('p.json');
      const all = new Uint8Array(to).fill(0x20);
      all.set(bytes);
      return { path, bytes: all };
    };
    const [fits, larger] = [padded(MAX_POLICY_BYTES), padded(MAX_POLICY_BYTES + 1)];
    const { result } = await readFiles(fileOf('top.json', [parentOf(fits)]), [fits]);
    expect(result).toMatchObject({ status: 'fulfilled' });
    expect((await errorOf(fileOf('top.json', [parentOf(larger)]), [larger])).error).toMatchObject({
      code: 'policy.EXTENDS_MISMATCH',
    });
  });

  it('is named in its faults, with their paths and reasons', async () => {
    const bad = fileOf('deep/bad.json', [], { outcom: {} });
    const { error } = await errorOf(fileOf('top.json', [parentOf(bad)]), [bad]);
    expect(error).toBeInstanceOf(DrillproofError);
    expect(error).toMatchObject({
      code: 'policy.INVALID',
      message: expect.stringMatching(/^deep\/bad\.json: /),
      details: { issues: [{ path: '/outcom' }] },
    });
  });

  it('throws the error of the read if it cannot be read', async () => {
    const top = fileOf('top.json', [parentOf(fileOf('absent.json'))]);
    expect((await errorOf(top)).error).toBeInstanceOf(RangeError);
  });
});
