import type { Code } from '../../../src/codes/catalogue.ts';
import { bundle } from '../../make/bundle.ts';
import { storeKey, storeText } from '../../make/keys.ts';
import { envelope, inToto, payloadOf, statement } from '../dsse/case.ts';
import { type Case, type Input, UNATTESTED, judge, tree } from './case.ts';

/** An envelope about the bundle of that number, by the key of that name. */
const about = (n: number, signer = 'a'): string =>
  envelope(payloadOf(inToto(statement(signer, n))), [signer]);

const unsigned = tree({ bundles: [bundle(1), bundle(2)] });

const given = (
  id: string,
  input: Partial<Input>,
  result: Case['expected']['result'],
  codes: readonly Code[],
  comment: string,
): Case =>
  judge(
    `envelope-${id}`,
    { ...unsigned, ...input },
    { result, codes: [UNATTESTED, ...codes] },
    'Binding',
    comment,
  );

/** Envelopes next to an export (formats §2, DSSE). */
export const envelopes = (): Case[] => [
  given(
    'of-each',
    { envelopes: [about(1), about(2)] },
    'verified',
    [],
    'one about each of two unsigned bundles',
  ),
  given(
    'order',
    { envelopes: [about(2), about(1)] },
    'verified',
    [],
    'the order of envelopes does not matter',
  ),
  given(
    'of-one',
    { envelopes: [about(1), about(1)] },
    'intact',
    ['bundle.UNSIGNED'],
    'two about one bundle do not cover the other',
  ),
  given(
    'two-keys',
    {
      envelopes: [about(1), about(2), about(1, 'b')],
      trust: storeText(storeKey('a', { purposes: ['evidence', 'export'] }), storeKey('b')),
    },
    'verified',
    [],
    'two by different keys about one bundle',
  ),
  given(
    'two-keys-one-unknown',
    { envelopes: [about(1), about(2), about(1, 'b')] },
    'failed',
    ['trust.KEY_UNKNOWN'],
    'of two about one bundle both have to hold',
  ),
  given(
    'stray',
    { envelopes: [about(1), about(2), about(3)] },
    'failed',
    ['dsse.SUBJECT_UNKNOWN'],
    'one about a bundle that the export does not list',
  ),
  given(
    'garbage',
    { envelopes: [about(1), about(2), '{}'] },
    'failed',
    ['dsse.INVALID'],
    'one that is not an envelope',
  ),
];
