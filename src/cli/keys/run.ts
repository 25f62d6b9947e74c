import { rm } from 'node:fs/promises';
import { defined } from '../../bytes/arguments.ts';
import { countNoun, isoTime } from '../../bytes/text/wording.ts';
import {
  generateSigningKey,
  type ReadVerifyingKey,
  readCertificates,
  readVerifyingKeys,
  writeSigningKeyPem,
} from '../../node/keys/keys.ts';
import { MAX_KEY_SET_BYTES } from '../../trust/key/key-file.ts';
import { certificateIdOf } from '../../trust/certificate.ts';
import { publicKeyPem } from '../../trust/key/key.ts';
import { SIGNER_PURPOSES, type TrustStore, trustStoreJwks } from '../../trust/store.ts';
import type { TrustedKey } from '../../trust/trusted-key.ts';
import { type Cli, printNote } from '../cli.ts';
import { withFileName, readInput } from '../shared/input/input.ts';
import { readTrustFile } from '../shared/input/trust.ts';
import { usageError } from '../shared/options/values.ts';
import { checkOutputFile, writeOutputFile } from '../shared/output/output-file.ts';
import { writeFacts, writeProduct } from '../shared/output/product.ts';
import type { AddOptions, GenerateOptions, Moment, RevokeOptions, SetOptions } from './options.ts';
import { describeAlias, findOtherCompromise, formatCompromise, formatKeys } from './output.ts';
import {
  listAliases,
  findKey,
  isTrusted,
  openTrustFile,
  rewriteTrustFile,
  requireStore,
  type TrustFile,
} from './trust-file.ts';

export async function generate(cli: Cli, options: GenerateOptions): Promise<void> {
  const { out, force = false, public: publicPath = `${out.replace(/\.pem$/, '')}.pub.pem` } = options;
  const { scalar, signer } = generateSigningKey();
  const pem = publicKeyPem(signer.point);
  await checkOutputFile(cli, publicPath, force);
  await writeOutputFile(cli, out, [Buffer.from(writeSigningKeyPem(scalar))], { force, mode: 0o600 });
  try {
    await writeOutputFile(cli, publicPath, [Buffer.from(pem)], { force });
  } catch (cause) {
    if (!force) await rm(out); // half a key pair is useless
    throw cause;
  }
  await writeFacts(
    cli,
    { kind: 'key', keyId: signer.keyId, privateKeyPath: out, publicKeyPath: publicPath },
    [
      ['key id', signer.keyId],
      ['private key', `${out} (keep it secret; it signs in your name)`],
      ['public key', `${publicPath} (give it to those who verify)`],
    ],
  );
}

export async function add(cli: Cli, path: string, options: AddOptions): Promise<void> {
  const { trust, newOnly = false, purpose = SIGNER_PURPOSES } = options;
  const bytes = await readInput(path, MAX_KEY_SET_BYTES, cli);
  const purposes = purpose.filter((word) => word !== 'timestamp');
  if (purposes.length < purpose.length) {
    if (purposes.length > 0)
      throw usageError('a certificate of a time authority has one purpose', 'Omit the others.');
    return addCertificates(cli, path, bytes, options);
  }
  const read = withFileName(path, () => readVerifyingKeys(bytes));
  if (options.keyId !== undefined && read.length > 1)
    throw usageError(`--key-id is for one key, and ${path} contains ${read.length}`, 'Omit --key-id.');
  const keys = read.map((key) => toTrustedKey(key, { ...options, purposes }));
  const file = await openTrustFile(cli, trust);
  const before = file.current?.store;
  const added = newOnly ? keys.filter((key) => !isTrusted(before, key)) : keys;
  const store =
    added.length === 0 && before !== undefined
      ? before
      : await rewriteTrustFile(file, [...(before?.keys ?? []), ...added]);
  await writeAdded(cli, options, {
    store,
    what: 'key',
    ids: added.map(({ keyId }) => keyId),
    alreadyTrusted: keys.length - added.length,
    facts: [
      ['valid for', added[0]?.purposes.join(', ')],
      ...added.map((key) => ['verifies', formatCompromise(store, key)] as const),
    ],
  });
  await warnAboutKeys(cli, before, added);
}

/** Adds certificates of a time authority, which keep their own periods for the chains that they are in. */
async function addCertificates(
  cli: Cli,
  path: string,
  bytes: Uint8Array,
  options: AddOptions,
): Promise<void> {
  const { issuer, trust, keyId, newOnly = false, notBefore, notAfter } = options;
  if (keyId !== undefined || options.project !== undefined || options.organization !== undefined)
    throw usageError('a certificate of a time authority has no key id and no scope', 'Omit those options.');
  const limits = defined({ notBeforeMs: notBefore, notAfterMs: notAfter });
  const certificates = withFileName(path, () => readCertificates(bytes)).map((certificate) => ({
    issuer,
    certificate,
    ...limits,
    compromised: true,
  }));
  const file = await openTrustFile(cli, trust);
  const { keys = [], certificates: before = [] } = file.current?.store ?? {};
  const known = new Set(before.map(certificateIdOf));
  const added = newOnly ? certificates.filter((row) => !known.has(certificateIdOf(row))) : certificates;
  const store = await rewriteTrustFile(file, keys, [...before, ...added]);
  await writeAdded(cli, options, {
    store,
    what: 'certificate',
    ids: added.map(certificateIdOf),
    alreadyTrusted: certificates.length - added.length,
    facts: [['valid for', 'timestamp']],
  });
}

/** Writes the result of a change: what changed, and the trust store after it. */
const writeStore = (
  cli: Cli,
  { fingerprint, keys }: TrustStore,
  change: Readonly<Record<string, unknown>>,
  facts: Facts,
): Promise<void> =>
  writeFacts(cli, { kind: 'trust-store', fingerprint, ...change, keys: keys.length }, [
    ...facts,
    ['fingerprint', fingerprint],
  ]);

function toTrustedKey(
  key: ReadVerifyingKey,
  options: Omit<AddOptions, 'purpose'> & Pick<TrustedKey, 'purposes'>,
): TrustedKey {
  const { issuer, keyId = key.keyId, project, organization } = options;
  const notBeforeMs = options.notBefore ?? key.notBeforeMs;
  const notAfterMs = options.notAfter ?? key.notAfterMs;
  return {
    issuer,
    keyId,
    point: key.point,
    compromised: true,
    purposes: options.purposes,
    ...defined({ notBeforeMs, notAfterMs, projects: project, organizations: organization }),
    ...(key.fromCertificate === true && { fromCertificate: true }),
  };
}

type Facts = Parameters<typeof writeFacts>[2];
type Added = {
  readonly store: TrustStore;
  readonly what: 'key' | 'certificate';
  readonly ids: readonly string[];
  readonly alreadyTrusted: number;
  readonly facts: Facts;
};

function writeAdded(
  cli: Cli,
  { trust, issuer }: AddOptions,
  { store, what, ids, alreadyTrusted, facts }: Added,
): Promise<void> {
  const { keys, certificates = [] } = store;
  const held = [countNoun(keys.length, 'key')];
  if (certificates.length > 0) held.push(countNoun(certificates.length, 'certificate'));
  return writeStore(cli, store, { added: ids.map((keyId) => ({ issuer, keyId })), alreadyTrusted }, [
    ...ids.map((id, at) => [at === 0 ? 'added' : '', `${issuer}, ${what} ${id}`] as const),
    ...(ids.length === 0 ? [['added', `nothing: every ${what} is trusted already`] as const] : []),
    ...facts,
    ['trust store', `${trust}, ${held.join(', ')}`],
  ]);
}

/** Warns about expired keys, and about revoked keys that are added under another name. */
async function warnAboutKeys(cli: Cli, before: TrustStore | undefined, keys: readonly TrustedKey[]) {
  for (const key of keys) {
    const { keyId, notAfterMs } = key;
    if (notAfterMs !== undefined && notAfterMs < cli.now())
      await printNote(
        cli,
        `key ${keyId} expired at ${isoTime(notAfterMs)}: later signatures will not verify`,
      );
    for (const { keyId: alias, issuer, revokedAtMs } of before === undefined ? [] : listAliases(before, key))
      if (revokedAtMs !== undefined)
        await printNote(cli, `key ${keyId} is the same key as ${alias} of ${issuer}, which is revoked`);
  }
}

export async function set(cli: Cli, keyId: string, options: SetOptions): Promise<void> {
  const { file, key } = await openKey(cli, keyId, options);
  await replaceKey(cli, file, key, changeKey(key, options));
}

/** Revokes a certificate of a time authority, if one has this digest. */
async function revokeCertificate(cli: Cli, name: string, options: RevokeOptions): Promise<boolean> {
  const file = await openTrustFile(cli, options.trust);
  const { keys, certificates = [] } = requireStore(file);
  const target = certificates.find((row) => certificateIdOf(row) === name);
  if (target === undefined) return false;
  const { revokedAtMs, ...rest } = target;
  const next = { ...rest, ...readRevocation(cli.now(), options) };
  const rows = certificates.map((row) => (row === target ? next : row));
  const store = await rewriteTrustFile(file, keys, rows);
  const change: Change = ['revoked at', formatMoment(revokedAtMs), formatMoment(next.revokedAtMs)];
  const { issuer } = target;
  await writeChanges(cli, file, store, { what: 'certificate', issuer, keyId: name, changes: [change] });
  return true;
}

async function openKey(cli: Cli, keyId: string, { trust, issuer }: Pick<SetOptions, 'trust' | 'issuer'>) {
  const file = await openTrustFile(cli, trust);
  return { file, key: findKey(requireStore(file), keyId, issuer) };
}

function changeKey(key: TrustedKey, options: SetOptions): TrustedKey {
  const { notBefore, notAfter, purpose, project, organization, anyProject, anyOrganization } = options;
  const flags = [notBefore, notAfter, purpose, project, organization, anyProject, anyOrganization];
  if (flags.every((value) => value === undefined))
    throw usageError('no change is given', 'Pass an option with the change, such as --not-after TIME.');
  const { notBeforeMs, notAfterMs, projects, organizations, ...rest } = key;
  return {
    ...rest,
    purposes: purpose ?? key.purposes,
    ...defined({
      notBeforeMs: applyMoment(notBefore, notBeforeMs),
      notAfterMs: applyMoment(notAfter, notAfterMs),
      projects: anyProject === true ? undefined : (project ?? projects),
      organizations: anyOrganization === true ? undefined : (organization ?? organizations),
    }),
  };
}

const applyMoment = (moment: Moment | undefined, before: number | undefined): number | undefined =>
  moment === 'none' ? undefined : (moment ?? before);

export async function revoke(cli: Cli, keyId: string, options: RevokeOptions): Promise<void> {
  if (await revokeCertificate(cli, keyId, options)) return;
  const { file, key } = await openKey(cli, keyId, options);
  const { revokedAtMs, ...rest } = key;
  if (revokedAtMs !== undefined && options.at === undefined)
    throw usageError(
      `the key has been revoked since ${isoTime(revokedAtMs)}${key.compromised ? ', as compromised' : ''}`,
      'Pass --at TIME to change that, or --at none to remove the revocation.',
    );
  await replaceKey(cli, file, key, { ...rest, ...readRevocation(cli.now(), options) });
}

function readRevocation(
  nowMs: number,
  { at = nowMs, notCompromised = false }: RevokeOptions,
): Pick<TrustedKey, 'revokedAtMs' | 'compromised'> {
  return at === 'none' ? { compromised: true } : { revokedAtMs: at, compromised: !notCompromised };
}

async function replaceKey(cli: Cli, file: TrustFile, key: TrustedKey, next: TrustedKey): Promise<void> {
  const before = requireStore(file);
  const changes = listKeyChanges(key, next);
  const keys = before.keys.map((other) => (other === key ? next : other));
  const store = changes.length === 0 ? before : await rewriteTrustFile(file, keys);
  await writeChanges(cli, file, store, { what: 'key', issuer: key.issuer, keyId: key.keyId, changes });
  if (next.revokedAtMs === undefined) return;
  for (const other of listAliases(before, key).filter(({ revokedAtMs }) => revokedAtMs === undefined))
    await printNote(cli, describeAlias(next.compromised, other));
}

type Change = readonly [name: string, before: string, after: string];
type Changed = Pick<TrustedKey, 'issuer' | 'keyId'> & {
  readonly what: 'key' | 'certificate';
  readonly changes: readonly Change[];
};

const writeChanges = (
  cli: Cli,
  { path }: TrustFile,
  store: TrustStore,
  { what, issuer, keyId, changes }: Changed,
): Promise<void> =>
  writeStore(
    cli,
    store,
    {
      changed: { issuer, keyId },
      changes: changes.map(([name, before, after]) => ({ name, before, after })),
    },
    [
      [what, `${issuer}, ${what} ${keyId}`],
      ...changes.map(([name, before, after]) => [name, `${before} -> ${after}`] as const),
      ...(changes.length === 0 ? [['changed', 'nothing: the key already has these values'] as const] : []),
      ['trust store', path],
    ],
  );

function listKeyChanges(before: TrustedKey, after: TrustedKey): readonly Change[] {
  const old = describeKey(before);
  return Object.entries(describeKey(after))
    .map(([name, value]): Change => [name, old[name] ?? 'none', value])
    .filter(([, was, is]) => was !== is);
}

const describeKey = (key: TrustedKey): Readonly<Record<string, string>> => ({
  'not before': formatMoment(key.notBeforeMs),
  'not after': formatMoment(key.notAfterMs),
  'revoked at': formatMoment(key.revokedAtMs),
  compromised: key.revokedAtMs !== undefined && key.compromised ? 'yes' : 'no',
  'valid for': key.purposes.toSorted().join(', '),
  projects: key.projects?.toSorted().join(', ') ?? 'any',
  organizations: key.organizations?.toSorted().join(', ') ?? 'any',
});

const formatMoment = (ms: number | undefined): string => (ms === undefined ? 'none' : isoTime(ms));

export async function list(cli: Cli, path: string): Promise<void> {
  const { keys: unsorted, ...rest } = await readTrustFile(cli, path);
  const store = { ...rest, keys: unsorted.toSorted(compareTimes) };
  const { keys: jwks, certificates } = trustStoreJwks(store);
  const keys = jwks.map((jwk, at) => {
    const other = findOtherCompromise(store, store.keys[at]!);
    return { ...jwk, ...(other && { compromisedAs: { issuer: other.issuer, kid: other.keyId } }) };
  });
  const product = { kind: 'trust-store', fingerprint: store.fingerprint, keys, ...defined({ certificates }) };
  await writeProduct(cli, product, formatKeys(store), countNoun(keys.length, 'key'));
}

/** Sorts keys by the begin of their periods, then by the end. Those without a begin are first, without an end last. */
const compareTimes = (a: TrustedKey, b: TrustedKey): number =>
  (a.notBeforeMs ?? 0) - (b.notBeforeMs ?? 0) ||
  (a.notAfterMs ?? Number.MAX_SAFE_INTEGER) - (b.notAfterMs ?? Number.MAX_SAFE_INTEGER);
