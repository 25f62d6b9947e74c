import * as z from 'zod/mini';
import type { Flag } from '../flags.ts';
import type { Kind, VectorCase } from '../kind.ts';
import { sha256Of } from '../make/bytes.ts';

/** The formats of the control API that other documents are made of. */
const FORMATS = [
  'organizationId',
  'projectId',
  'environmentId',
  'sessionId',
  'operationId',
  'authoringSessionId',
  'hostedRunId',
  'evidenceExportId',
  'evidenceBundleId',
  'buildAttemptId',
  'sourceDraftId',
  'runId',
  'localReportId',
  'digest',
  'slug',
  'semver',
  'idempotencyKey',
  'revision',
  'seed',
  'decimalBytes',
] as const;
type IdentifierFormat = (typeof FORMATS)[number];

const inputSchema = z.strictObject({ format: z.enum(FORMATS), text: z.string() });
const expectedSchema = z.strictObject({ verdict: z.enum(['valid', 'invalid']) });
type Case = VectorCase<z.infer<typeof inputSchema>, z.infer<typeof expectedSchema>>;
type Row = readonly [id: string, text: string, flag: Flag, comment: string];

const of =
  (verdict: 'valid' | 'invalid', format: IdentifierFormat) =>
  ([id, text, flag, comment]: Row): Case => ({
    id: `${format}-${id}`,
    comment,
    flags: [flag],
    input: { format, text },
    expected: { verdict },
  });

const both = (format: IdentifierFormat, valid: readonly Row[], invalid: readonly Row[]): Case[] => [
  ...valid.map(of('valid', format)),
  ...invalid.map(of('invalid', format)),
];

const PREFIXES: readonly (readonly [IdentifierFormat, prefix: string])[] = [
  ['organizationId', 'org'],
  ['projectId', 'prj'],
  ['environmentId', 'env'],
  ['sessionId', 'ses'],
  ['operationId', 'op'],
  ['authoringSessionId', 'authsess'],
  ['hostedRunId', 'hrun'],
  ['evidenceExportId', 'evexp'],
  ['evidenceBundleId', 'evidence'],
  ['buildAttemptId', 'attempt'],
  ['sourceDraftId', 'draft'],
];

const prefixed = ([format, prefix]: (typeof PREFIXES)[number]): Case[] =>
  both(
    format,
    [
      ['shortest', `${prefix}_0123456789ab`, 'Length', '12 characters after the prefix'],
      ['longest', `${prefix}_${'z'.repeat(32)}`, 'Length', '32 characters after the prefix'],
    ],
    [
      ['short', `${prefix}_0123456789a`, 'Length', '11 characters'],
      ['long', `${prefix}_${'z'.repeat(33)}`, 'Length', '33 characters'],
      ['uppercase', `${prefix}_0123456789aB`, 'LetterCase', 'an uppercase letter'],
      ['foreign-prefix', 'xyz_0123456789ab', 'Prefix', 'the prefix of nothing'],
    ],
  );

/** Ways to pass a pattern that is not anchored to the whole text, tried on one format for all. */
const ANCHORS: readonly Row[] = [
  [
    'line-feed-after',
    'org_000000000001\n',
    'Anchor',
    'a line feed after it, which "$" lets pass in some languages',
  ],
  [
    'line-before',
    'x\norg_000000000001',
    'Anchor',
    'a line before it, which "^" lets pass where it means lines',
  ],
  ['space-before', ' org_000000000001', 'Anchor', 'a space before it'],
  ['nul-after', 'org_000000000001\u0000', 'Anchor', 'a NUL after it, where C ends'],
  ['path', 'org_000000000001/../x', 'Anchor', 'a path behind it'],
  ['prefix-uppercase', 'ORG_000000000001', 'LetterCase', 'the prefix in uppercase'],
  ['hyphen', 'org-000000000001', 'Prefix', 'a hyphen for the underscore'],
  [
    'arabic-digits',
    'org_\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669\u0660\u0661',
    'Alphabet',
    'digits that are not ASCII',
  ],
  ['kelvin', 'org_00000000000\u212a', 'Alphabet', 'the Kelvin sign, whose lowercase is k'],
  ['empty', '', 'Length', 'nothing'],
];

const HEX_64 = sha256Of('').slice('sha256:'.length);

const others = (): Case[] => [
  ...both(
    'runId',
    [
      ['shortest', 'run_abcdef', 'Length', 'six characters after the prefix'],
      ['longest', `run_${'a'.repeat(96)}`, 'Length', '96 characters after the prefix'],
      ['characters', 'run_A-b_0-Z', 'Alphabet', 'letters of both cases, digits, hyphen and underscore'],
    ],
    [
      ['short', 'run_abcde', 'Length', 'five characters'],
      ['long', `run_${'a'.repeat(97)}`, 'Length', '97 characters'],
      ['first-hyphen', 'run_-abcdef', 'Alphabet', 'the first character is a letter or digit'],
      ['dot', 'run_abc.def', 'Alphabet', 'a dot'],
    ],
  ),
  ...both(
    'localReportId',
    [
      ['ours', 'lrep_000000000001', 'Prefix', 'as drillproof makes it'],
      ['foreign', 'Report-7_b', 'Prefix', 'as another implementation may make it'],
      ['longest', 'a'.repeat(128), 'Length', '128 characters'],
    ],
    [
      ['empty', '', 'Length', 'nothing'],
      ['long', 'a'.repeat(129), 'Length', '129 characters'],
      ['solidus', 'a/b', 'Alphabet', 'a solidus, which would make a folder'],
      ['dot', 'a.b', 'Alphabet', 'a dot'],
    ],
  ),
  ...both(
    'digest',
    [['empty-input', `sha256:${HEX_64}`, 'Alphabet', 'the SHA-256 of no bytes']],
    [
      ['uppercase', `sha256:${HEX_64.toUpperCase()}`, 'LetterCase', 'digits in uppercase'],
      ['no-algorithm', HEX_64, 'Prefix', 'no algorithm'],
      ['other-algorithm', `sha512:${HEX_64}`, 'Prefix', 'another algorithm'],
      ['algorithm-case', `SHA256:${HEX_64}`, 'LetterCase', 'the algorithm in uppercase'],
      ['short', `sha256:${HEX_64.slice(1)}`, 'Length', '63 digits'],
      ['long', `sha256:${HEX_64}0`, 'Length', '65 digits'],
      ['not-hex', `sha256:${HEX_64.slice(1)}g`, 'Alphabet', 'a letter after f'],
    ],
  ),
  ...both(
    'slug',
    [
      ['word', 'check', 'Alphabet', 'one segment'],
      ['segments', 'check-package_v2', 'Alphabet', 'three segments'],
      ['segment-digit', 'checkout-2', 'Alphabet', 'a segment that begins with a digit'],
      ['longest', 'a'.repeat(96), 'Length', '96 characters'],
    ],
    [
      ['empty', '', 'Length', 'nothing'],
      ['long', 'a'.repeat(97), 'Length', '97 characters'],
      ['digit-first', '2check', 'Alphabet', 'a digit first'],
      ['hyphen-last', 'check-', 'Alphabet', 'a hyphen at the end'],
      ['double-hyphen', 'check--package', 'Alphabet', 'two hyphens'],
      ['uppercase', 'Check', 'LetterCase', 'an uppercase letter'],
    ],
  ),
  ...both(
    'semver',
    [
      ['plain', '1.2.3', 'SemanticVersion', 'three numbers'],
      ['zeros', '0.0.0', 'SemanticVersion', 'zeros'],
      ['prerelease', '1.0.0-alpha.1', 'SemanticVersion', 'a prerelease'],
      ['build', '1.0.0+build.007', 'SemanticVersion', 'a build, where leading zeros are allowed'],
      ['both', '1.0.0-rc.1+5114f85', 'SemanticVersion', 'a prerelease and a build'],
      ['hyphens', '1.0.0--', 'SemanticVersion', 'a prerelease of one hyphen'],
      ['zero-letter', '1.0.0-0a', 'SemanticVersion', 'a zero before a letter'],
    ],
    [
      ['two-numbers', '1.2', 'SemanticVersion', 'two numbers'],
      ['four-numbers', '1.2.3.4', 'SemanticVersion', 'four numbers'],
      ['v', 'v1.2.3', 'SemanticVersion', 'a letter before'],
      ['leading-zero', '1.02.3', 'SemanticVersion', 'a leading zero'],
      ['prerelease-zero', '1.2.3-01', 'SemanticVersion', 'a leading zero in a number of the prerelease'],
      ['prerelease-empty', '1.2.3-', 'SemanticVersion', 'an empty prerelease'],
      ['prerelease-gap', '1.2.3-a..b', 'SemanticVersion', 'an empty identifier'],
      ['build-empty', '1.2.3+', 'SemanticVersion', 'an empty build'],
      ['two-builds', '1.2.3+a+b', 'SemanticVersion', 'two builds'],
    ],
  ),
  ...both(
    'idempotencyKey',
    [
      ['shortest', 'a.b_c:d-', 'Length', 'eight characters'],
      ['longest', 'a'.repeat(128), 'Length', '128 characters'],
    ],
    [
      ['short', 'abcdefg', 'Length', 'seven characters'],
      ['long', 'a'.repeat(129), 'Length', '129 characters'],
      ['space', 'abcd efgh', 'Alphabet', 'a space'],
    ],
  ),
  ...both(
    'revision',
    [['commit', '0123456789abcdef0123456789abcdef01234567', 'Length', '40 digits']],
    [
      ['short', '0123456', 'Length', 'seven digits, as commits are abbreviated'],
      ['uppercase', '0123456789ABCDEF0123456789ABCDEF01234567', 'LetterCase', 'uppercase'],
    ],
  ),
  ...both(
    'seed',
    [
      ['one', '7', 'Length', 'one character'],
      ['longest', '18446744073709551615', 'Length', '20 characters'],
      ['pairs', '😀'.repeat(20), 'Length', '20 characters that are 40 UTF-16 code units'],
    ],
    [
      ['empty', '', 'Length', 'nothing'],
      ['long', '184467440737095516150', 'Length', '21 characters'],
    ],
  ),
  ...both(
    'decimalBytes',
    [
      ['zero', '0', 'Decimal', 'zero'],
      ['beyond-double', '9007199254740993', 'Decimal', 'a number that a double does not hold'],
      ['longest', '9'.repeat(38), 'Length', '38 digits'],
    ],
    [
      ['empty', '', 'Length', 'nothing'],
      ['leading-zero', '01', 'Decimal', 'a leading zero'],
      ['negative', '-1', 'Decimal', 'a sign'],
      ['exponent', '1e3', 'Decimal', 'an exponent'],
      ['fraction', '1.0', 'Decimal', 'a fraction'],
      ['hexadecimal', '0x10', 'Decimal', 'hexadecimal'],
      ['space', ' 1', 'Decimal', 'a space'],
      ['long', '9'.repeat(39), 'Length', '39 digits'],
    ],
  ),
];

export const identifiers: Kind<Case['input'], Case['expected']> = {
  name: 'identifiers',
  about: 'text, and whether it has the format that is named',
  clause: 'control API, Conventions',
  input: inputSchema,
  expected: expectedSchema,
  cases: () => [...PREFIXES.flatMap(prefixed), ...ANCHORS.map(of('invalid', 'organizationId')), ...others()],
};
