import { execFileSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toUtf8 } from '../../../src/bytes/text/encoding.ts';
import { attest } from '../../../src/evidence/bundle/attestation.ts';
import { commandSigner, type CommandSignerOptions } from '../../../src/node/keys/command-signer.ts';
import { readSigningKey, readVerifyingKey } from '../../../src/node/keys/keys.ts';
import { verifySignature, type Signer } from '../../../src/trust/key/signer.ts';
import { makeFolder } from '../../support/folder.ts';

const pathOf = (name: string): string => join(folder, name);
const message = toUtf8('{"what":"is signed"}');

const openssl = (...words: string[]): Buffer => execFileSync('openssl', words, { cwd: folder });

const folder = await makeFolder();
for (const name of ['key', 'other']) {
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', `${name}.pem`);
  openssl('pkey', '-in', `${name}.pem`, '-pubout', '-out', `${name}.pub.pem`);
}
const publicKey = readVerifyingKey(await readFile(pathOf('key.pub.pem')));

/** Writes a shell script with these lines; `$KEY` is the private key. */
async function writeScript(...lines: string[]): Promise<readonly [string]> {
  const path = pathOf(`signer-${Math.random().toString(36).slice(2)}.sh`);
  await writeFile(path, ['#!/bin/sh', `KEY=${pathOf('key.pem')}`, ...lines, ''].join('\n'));
  await chmod(path, 0o700);
  return [path];
}

const makeSigner = (command: CommandSignerOptions['command'], options: Partial<CommandSignerOptions> = {}) =>
  commandSigner({ command, publicKey, ...options });
const makeScriptSigner = async (
  lines: string[],
  options: Partial<CommandSignerOptions> = {},
): Promise<Signer> => makeSigner(await writeScript(...lines), options);
/** A command that signs with a key file. */
const signWith = (file: string) => ['openssl', 'dgst', '-sha256', '-sign', pathOf(file)] as const;
const isValid = (signature: Uint8Array): boolean => verifySignature({ key: publicKey, message, signature });

const SIGN = 'openssl dgst -sha256 -sign "$KEY"';

describe('a program that signs', () => {
  it('can be the openssl command', async () => {
    const signer = await makeSigner(signWith('key.pem'));
    expect(signer.keyId).toBe(readSigningKey(await readFile(pathOf('key.pem'))).signer.keyId);
    expect(isValid(await signer.sign(message))).toBe(true);
  });

  it.each([
    ['DER', SIGN],
    ['base64 in lines', `${SIGN} | openssl base64`],
    ['base64 in one line', `${SIGN} | openssl base64 -A`],
    ['base64url without padding', `${SIGN} | openssl base64 -A | tr '+/' '-_' | tr -d '='`],
  ])('may write its signature as %s', async (_, line) => {
    const signer = await makeScriptSigner([line]);
    for (let n = 0; n < 3; n++) expect(isValid(await signer.sign(message))).toBe(true);
  });

  it('prints its public key if the caller passes none', async () => {
    const command = await writeScript(
      'case "$DRILLPROOF_SIGNER" in',
      `public-key) cat ${pathOf('key.pub.pem')};;`,
      `sign) ${SIGN};;`,
      'esac',
    );
    const signer = await commandSigner({ command });
    expect(signer.keyId).toBe(publicKey.keyId);
    expect(isValid(await signer.sign(message))).toBe(true);
  });

  it('gets the unchanged message, also one of many bytes', async () => {
    const long = new Uint8Array(5_000_000).fill(65);
    const signer = await makeScriptSigner([SIGN]);
    expect(verifySignature({ key: publicKey, message: long, signature: await signer.sign(long) })).toBe(true);
  });

  it('does not get the token of the control plane, but the rest of the environment', async () => {
    const env = { PATH: process.env['PATH'], DRILLPROOF_TOKEN: 'secret', PIN_FILE: 'x' };
    const signer = await makeScriptSigner(
      ['test -z "$DRILLPROOF_TOKEN" || exit 7', 'test "$PIN_FILE" = x || exit 8', SIGN],
      { env },
    );
    expect(isValid(await signer.sign(message))).toBe(true);
  });

  it('runs without a shell, with unchanged arguments', async () => {
    const [path] = await writeScript('printf %s "$1" > "$0.seen"', SIGN);
    await (await makeSigner([path, '$(touch pwned); `x` | y'])).sign(message);
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
    ['writes bytes that are not text', [String.raw`printf '\377\376'`], 'trust.SIGNER_OUTPUT'],
    ['writes something after the signature', [SIGN, 'echo'], 'trust.SIGNER_OUTPUT'],
    ['writes the digest in hexadecimal', ['openssl dgst -sha256'], 'trust.SIGNER_OUTPUT'],
    ['never stops writing', ['cat /dev/zero'], 'trust.SIGNER_OUTPUT'],
    ['signs something else', [`echo other | ${SIGN}`], 'trust.SIGNER_FAULT'],
    ['signs with another hash', ['openssl dgst -sha384 -sign "$KEY"'], 'trust.SIGNER_FAULT'],
  ];
  it.each(faults)('%s: nothing is signed, and the error has a code', async (_, lines, code) => {
    const signer = await makeScriptSigner(lines);
    await expect(signer.sign(message)).rejects.toMatchObject({ code });
  });

  it.each([
    ['signs with another key than the given public key', signWith('other.pem'), 'trust.SIGNER_FAULT'],
    ['does not exist', [pathOf('nothing')], 'trust.SIGNER_FAILED'],
  ] as const)('%s', async (_, command, code) => {
    const signer = await makeSigner(command);
    await expect(signer.sign(message)).rejects.toMatchObject({ code });
  });

  it.each([['exec sleep 600'], ['sleep 5 & wait'], ['trap "" TERM INT; while :; do :; done']])(
    'hangs in %j: it is killed at the timeout, without a wait for its child processes',
    async (line) => {
      const signer = await makeScriptSigner([line], { timeoutMs: 300 });
      await expect(signer.sign(message)).rejects.toMatchObject({ code: 'trust.SIGNER_TIMEOUT' });
    },
  );

  it('is killed when the caller aborts it', async () => {
    const controller = new AbortController();
    const signer = await makeScriptSigner(['exec sleep 600'], { signal: controller.signal });
    const signing = signer.sign(message);
    controller.abort(new Error('enough'));
    await expect(signing).rejects.toThrow('enough');
    await expect(signer.sign(message)).rejects.toThrow('enough');
  });

  it('reports neither its arguments nor its output', async () => {
    const [path] = await writeScript('echo the PIN was 1234 >&2', 'exit 3');
    const signer = await makeSigner([path, '--pin=1234']);
    const error: unknown = await signer.sign(message).catch((reason: unknown) => reason);
    expect(String(error)).toContain('exit code 3');
    expect(String(error)).not.toContain('1234');
  });

  it('prints no public key on request', async () => {
    for (const command of [signWith('key.pem'), await writeScript('cat "$KEY"')])
      await expect(commandSigner({ command })).rejects.toMatchObject({ code: 'trust.SIGNER_OUTPUT' });
  });
});

it('no attestation is created from an invalid signature of any signer', async () => {
  const invalid: Signer = { ...publicKey, sign: () => Promise.resolve(new Uint8Array(70)) };
  const statement = { keyId: publicKey.keyId } as Parameters<typeof attest>[0];
  await expect(attest(statement, invalid)).rejects.toMatchObject({ code: 'trust.SIGNER_FAULT' });
});
