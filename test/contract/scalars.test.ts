import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type * as z from 'zod/mini';
import * as contract from '../../src/contract/index.ts';
import {
  chosenId,
  digest,
  type Format,
  id,
  idempotencyKey,
  localReportId,
  revision,
  semver,
  slug,
} from './formats.ts';
import { forAll } from '../support/property.ts';

const table: readonly [name: string, schema: z.ZodMiniType, format: Format][] = [
  ['organization id', contract.organizationIdSchema, id('org')],
  ['project id', contract.projectIdSchema, id('prj')],
  ['environment id', contract.environmentIdSchema, id('env')],
  ['session id', contract.sessionIdSchema, id('ses')],
  ['callback receiver binding id', contract.callbackReceiverBindingIdSchema, id('cbr')],
  ['hosted snapshot id', contract.hostedSnapshotIdSchema, id('hsnap')],
  ['operation id', contract.operationIdSchema, id('op')],
  ['authoring session id', contract.authoringSessionIdSchema, id('authsess')],
  ['hosted run id', contract.hostedRunIdSchema, id('hrun')],
  ['evidence export id', contract.evidenceExportIdSchema, id('evexp')],
  ['evidence bundle id', contract.evidenceBundleIdSchema, id('evidence')],
  ['build attempt id', contract.buildAttemptIdSchema, id('attempt')],
  ['source draft id', contract.sourceDraftIdSchema, id('draft')],
  ['run id', contract.runIdSchema, chosenId('run')],
  ['correlation id', contract.correlationIdSchema, chosenId('corr')],
  ['pending scheduled event id', contract.pendingEventIdSchema, chosenId('pending')],
  ['digest', contract.digestSchema, digest],
  ['slug', contract.slugSchema, slug],
  ['Idempotency-Key', contract.idempotencyKeySchema, idempotencyKey],
  ['local report id', contract.localReportIdSchema, localReportId],
  ['revision', contract.revisionSchema, revision],
  ['semantic version', contract.semverSchema, semver],
];

// The rules in words, character by character, as a second opinion on the patterns.
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const DIGITS = '0123456789';
const madeOf = (text: string, alphabet: string): boolean =>
  Array.from(text).every((c) => alphabet.includes(c));
const between = (length: number, min: number, max: number): boolean => length >= min && length <= max;
const bodyOf = (text: string, prefix: string): string | undefined =>
  text.startsWith(prefix) ? text.slice(prefix.length) : undefined;

const issuedRule = (prefix: string) => (text: string) => {
  const body = bodyOf(text, `${prefix}_`);
  return body !== undefined && between(body.length, 12, 32) && madeOf(body, DIGITS + LOWER);
};
const chosenRule = (prefix: string) => (text: string) => {
  const body = bodyOf(text, `${prefix}_`);
  if (body === undefined || !between(body.length, 6, 96)) return false;
  return madeOf(body.charAt(0), UPPER + LOWER + DIGITS) && madeOf(body, `${UPPER}${LOWER}${DIGITS}_-`);
};
const digestRule = (text: string) => {
  const hex = bodyOf(text, 'sha256:');
  return hex?.length === 64 && madeOf(hex, `${DIGITS}abcdef`);
};
const slugRule = (text: string) =>
  between(text.length, 1, 96) &&
  LOWER.includes(text.charAt(0)) &&
  text
    .replaceAll('_', '-')
    .split('-')
    .every((segment) => segment !== '' && madeOf(segment, LOWER + DIGITS));
const keyRule = (text: string) =>
  between(text.length, 8, 128) && madeOf(text, `${UPPER}${LOWER}${DIGITS}._:-`);
const decimalRule = (text: string) =>
  between(text.length, 1, 38) && madeOf(text, DIGITS) && (text === '0' || text.charAt(0) !== '0');

/** Text that is often one character away from the format. */
const near = (prefix: string, alphabet: string, min: number, max: number): fc.Arbitrary<string> => {
  const good = fc.constantFrom(...Array.from(alphabet));
  const odd = fc.oneof(
    { weight: 60, arbitrary: good },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 1 }) },
  );
  const body = fc.array(odd, { minLength: Math.max(0, min - 1), maxLength: max + 1 }).map((c) => c.join(''));
  const head = fc.oneof(
    { weight: 12, arbitrary: fc.constant(prefix) },
    fc.constantFrom('', ` ${prefix}`, prefix.toUpperCase()),
  );
  return fc.tuple(head, body, fc.constantFrom('', '', '', '', '\n')).map((parts) => parts.join(''));
};

const properties: readonly [string, z.ZodMiniType, (text: string) => boolean, fc.Arbitrary<string>][] = [
  ['an issued id', contract.projectIdSchema, issuedRule('prj'), near('prj_', DIGITS + LOWER, 12, 32)],
  [
    'a chosen id',
    contract.runIdSchema,
    chosenRule('run'),
    near('run_', `${UPPER}${LOWER}${DIGITS}_-`, 6, 96),
  ],
  ['a digest', contract.digestSchema, digestRule, near('sha256:', `${DIGITS}abcdef`, 64, 64)],
  ['a slug', contract.slugSchema, slugRule, near('', `${LOWER}${LOWER}0-_`, 1, 9)],
  ['a long slug', contract.slugSchema, slugRule, near('', LOWER, 95, 96)],
  [
    'an Idempotency-Key',
    contract.idempotencyKeySchema,
    keyRule,
    near('', `${UPPER}${LOWER}${DIGITS}._:-`, 8, 128),
  ],
  ['a decimal byte string', contract.decimalBytesSchema, decimalRule, near('', DIGITS, 1, 38)],
];

it.each(properties)('the formats accept for %s exactly what its rule states', (_, schema, rule, texts) => {
  let accepted = 0;
  forAll(1000, [texts], (text) => {
    const wanted = rule(text);
    accepted += Number(wanted);
    return schema.safeParse(text).success === wanted;
  });
  expect(accepted).toBeGreaterThan(20);
});

it('the formats check hostile text in linear time', () => {
  const long = 'a'.repeat(200_000);
  for (const [, schema] of table) expect(schema.safeParse(`${long}!`).success).toBe(false);
  expect(contract.semverSchema.safeParse(`1.0.0-${'0'.repeat(100_000)}_`).success).toBe(false);
});
