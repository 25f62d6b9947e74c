import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../src/bytes/text/encoding.ts';
import { createSigner, verifySignature } from '../../src/trust/key/signer.ts';
import { importPublicKey, publicKeyPem } from '../../src/trust/key/key.ts';
import { implementations, integers, scalarOf } from './makers.ts';
import { tries } from '../support/deep.ts';
import { makeFolder } from '../support/folder.ts';

const run = promisify(execFile);
/** The number of signatures by each implementation. */
const COUNT = tries(20, 300);

const folder = await makeFolder();

const messageOf = (n: number): Uint8Array => toUtf8(`{"statement":${n}}`);

/** The number of signatures in the folder that openssl verifies, with one process for each. */
async function countVerified(key: string, count: number): Promise<number> {
  const list = join(folder, 'list');
  await writeFile(list, Array.from({ length: count }, (_, n) => join(folder, String(n))).join('\n'));
  const verify = 'openssl dgst -sha256 -verify'.split(' ');
  const each = ['-I{}', ...verify, key, '-signature', '{}.sig', '{}.msg'];
  const { stdout } = await run('xargs', ['-a', list, '-P', String(availableParallelism()), ...each], {
    maxBuffer: 64 * 2 ** 20,
  });
  return stdout.split('\n').filter((line) => line === 'Verified OK').length;
}

describe.each(implementations)('signatures by the %s implementation', (name, by) => {
  it(
    `${COUNT} signatures by the ${name} implementation have different r, and each verifies with openssl`,
    async () => {
      const signer = createSigner(scalarOf(name.length), by);
      const rs = new Set<bigint>();
      for (let n = 0; n < COUNT; n++) {
        // Two of one message each, so that a nonce made from the message alone would repeat.
        const message = messageOf(n >> 1);
        const signature = await signer.sign(message);
        rs.add(integers(signature)[0]);
        await writeFile(join(folder, `${n}.msg`), message);
        await writeFile(join(folder, `${n}.sig`), signature);
      }
      expect(rs.size).toBe(COUNT);
      const key = join(folder, `${name}.pem`);
      await writeFile(key, publicKeyPem(signer.point));
      expect(await countVerified(key, COUNT)).toBe(COUNT);
    },
    30_000 + COUNT * 100,
  );
});

it('signatures by the openssl command verify by both implementations, and over no other message', async () => {
  const key = join(folder, 'openssl.key');
  await run('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key]);
  const { stdout: pem } = await run('openssl', ['pkey', '-in', key, '-pubout']);
  const { point } = importPublicKey(pem);
  for (let n = 0; n < 40; n++) {
    const [text, file] = [join(folder, 'message'), join(folder, 'signature')];
    await writeFile(text, messageOf(n));
    await run('openssl', ['dgst', '-sha256', '-sign', key, '-out', file, text]);
    const signature = Uint8Array.from(await readFile(file));
    for (const [, implementation] of implementations) {
      const check = { key: { point }, signature, implementation };
      expect(verifySignature({ ...check, message: messageOf(n) })).toBe(true);
      expect(verifySignature({ ...check, message: messageOf(n + 1) })).toBe(false);
    }
  }
});
