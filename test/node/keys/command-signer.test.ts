import { execFileSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { attest } from '../../../src/evidence/index.ts';
import {
  commandSigner,
  readSigningKey,
  readVerifyingKey,
  type CommandSignerOptions,
} from '../../../src/node/index.ts';
import { verifySignature, type Signer } from '../../../src/trust/index.ts';
import { makeFolder } from '../../support/folder.ts';

const at = (name: string): string => join(folder, name);
const message = toUtf8('{"what":"is signed"}');

const openssl = (...words: string[]): Buffer => execFileSync('openssl', words, { cwd: folder });

const folder = await makeFolder();
for (const name of ['key', 'other']) {
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', `${name}.pem`);
  openssl('pkey', '-in', `${name}.pem`, '-pubout', '-out', `${name}.pub.pem`);
}
const publicKey = readVerifyingKey(await readFile(at('key.pub.pem')));

/** A program of these lines of shell; `$KEY` is the private key. */
async function program(...lines: string[]): Promise<readonly [string]> {
  const path = at(`signer-${Math.random().toString(36).slice(2)}.sh`);
  await writeFile(path, ['#!/bin/sh', `KEY=${at('key.pem')}`, ...lines, ''].join('\n'));
  await chmod(path, 0o700);
  return [path];
}

const signer = (command: CommandSignerOptions['command'], more: Partial<CommandSignerOptions> = {}) =>
  commandSigner({ command, publicKey, ...more });
const withLines = async (lines: string[], more: Partial<CommandSignerOptions> = {}): Promise<Signer> =>
  signer(await program(...lines), more);
const verifies = (signature: Uint8Array): boolean => verifySignature({ key: publicKey, message, signature });

const SIGN = 'openssl dgst -sha256 -sign "$KEY"';

describe('a program that signs', () => {
  it('is the openssl command as it is', async () => {
    const made = await signer(['openssl', 'dgst', '-sha256', '-sign', at('key.pem')]);
    expect(made.keyId).toBe(readSigningKey(await readFile(at('key.pem'))).signer.keyId);
    expect(verifies(await made.sign(message))).toBe(true);
  });

  it.each([
    ['DER', SIGN],
    ['base64 in lines', `${SIGN} | openssl base64`],
    ['base64 in one line', `${SIGN} | openssl base64 -A`],
    ['base64url without padding', `${SIGN} | openssl base64 -A | tr '+/' '-_' | tr -d '='`],
  ])('may write its signature as %s', async (_, line) => {
    const made = await withLines([line]);
    for (let n = 0; n < 3; n++) expect(verifies(await made.sign(message))).toBe(true);
  });

  it('is asked for its public key when none is given', async () => {
    const command = await program(
      'case "$DRILLPROOF_SIGNER" in',
      `public-key) cat ${at('key.pub.pem')};;`,
      `sign) ${SIGN};;`,
      'esac',
    );
    const made = await commandSigner({ command });
    expect(made.keyId).toBe(publicKey.keyId);
    expect(verifies(await made.sign(message))).toBe(true);
  });

  it('gets the message as it is, also one of many bytes', async () => {
    const long = new Uint8Array(5_000_000).fill(65);
    const made = await withLines([SIGN]);
    expect(verifySignature({ key: publicKey, message: long, signature: await made.sign(long) })).toBe(true);
  });

  it('never sees the token of the control plane, and sees the rest of the environment', async () => {
    const env = { PATH: process.env['PATH'], DRILLPROOF_TOKEN: 'secret', PIN_FILE: 'x' };
    const made = await withLines(
      ['test -z "$DRILLPROOF_TOKEN" || exit 7', 'test "$PIN_FILE" = x || exit 8', SIGN],
      { env },
    );
    expect(verifies(await made.sign(message))).toBe(true);
  });

  it('is run without a shell: its arguments mean nothing but themselves', async () => {
    const [path] = await program('printf %s "$1" > "$0.seen"', SIGN);
    await (await signer([path, '$(touch pwned); `x` | y'])).sign(message);
    expect(await readFile(`${path}.seen`, 'utf8')).toBe('$(touch pwned); `x` | y');
  });
});

describe('a program that does not sign', () => {
  const faults: [string, string[], string][] = [
    ['ends with 1', ['exit 1'], 'trust.SIGNER_FAILED'],
    ['signs and ends with 1', [SIGN, 'exit 1'], 'trust.SIGNER_FAILED'],
    ['is killed', ['kill -9 $$'], 'trust.SIGNER_FAILED'],
    ['writes nothing', [], 'trust.SIGNER_OUTPUT'],
    ['writes garbage', ['echo hello'], 'trust.SIGNER_OUTPUT'],
    ['writes bytes that are no text', [String.raw`printf '\377\376'`], 'trust.SIGNER_OUTPUT'],
    ['writes something after the signature', [SIGN, 'echo'], 'trust.SIGNER_OUTPUT'],
    ['writes the digest in hexadecimal', ['openssl dgst -sha256'], 'trust.SIGNER_OUTPUT'],
    ['never stops writing', ['cat /dev/zero'], 'trust.SIGNER_OUTPUT'],
    ['signs something else', [`echo other | ${SIGN}`], 'trust.SIGNER_FAULT'],
    ['signs with another hash', ['openssl dgst -sha384 -sign "$KEY"'], 'trust.SIGNER_FAULT'],
  ];
  it.each(faults)('%s: nothing is signed, and the error has a code', async (_, lines, code) => {
    const made = await withLines(lines);
    await expect(made.sign(message)).rejects.toMatchObject({ code });
  });

  it('signs with a key that does not match the given public key', async () => {
    const made = await signer(['openssl', 'dgst', '-sha256', '-sign', at('other.pem')]);
    await expect(made.sign(message)).rejects.toMatchObject({ code: 'trust.SIGNER_FAULT' });
  });

  it('is not there', async () => {
    await expect((await signer([at('nothing')])).sign(message)).rejects.toMatchObject({
      code: 'trust.SIGNER_FAILED',
    });
  });

  it.each([['exec sleep 600'], ['sleep 5 & wait'], ['trap "" TERM INT; while :; do :; done']])(
    'hangs in %j: it is ended when its time is over, and so is the wait for what it started',
    async (line) => {
      const made = await withLines([line], { timeoutMs: 300 });
      await expect(made.sign(message)).rejects.toMatchObject({ code: 'trust.SIGNER_TIMEOUT' });
    },
  );

  it('is ended when the caller gives up', async () => {
    const controller = new AbortController();
    const made = await withLines(['exec sleep 600'], { signal: controller.signal });
    const signing = made.sign(message);
    controller.abort(new Error('enough'));
    await expect(signing).rejects.toThrow('enough');
    await expect(made.sign(message)).rejects.toThrow('enough');
  });

  it('reports neither its arguments nor its output', async () => {
    const [path] = await program('echo the PIN was 1234 >&2', 'exit 3');
    const made = await signer([path, '--pin=1234']);
    const error: unknown = await made.sign(message).catch((reason: unknown) => reason);
    expect(String(error)).toContain('exit code 3');
    expect(String(error)).not.toContain('1234');
  });

  it('gives no public key when it is asked for one', async () => {
    const asked = commandSigner({ command: ['openssl', 'dgst', '-sha256', '-sign', at('key.pem')] });
    await expect(asked).rejects.toMatchObject({ code: 'trust.SIGNER_OUTPUT' });
    const secret = commandSigner({ command: await program('cat "$KEY"') });
    await expect(secret).rejects.toMatchObject({ code: 'trust.SIGNER_OUTPUT' });
  });
});

it('no attestation is made of a signature that does not verify, whoever the signer is', async () => {
  const liar: Signer = { ...publicKey, sign: () => Promise.resolve(new Uint8Array(70)) };
  const statement = { keyId: publicKey.keyId } as Parameters<typeof attest>[0];
  await expect(attest(statement, liar)).rejects.toMatchObject({ code: 'trust.SIGNER_FAULT' });
});
