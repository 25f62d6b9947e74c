import type { Code } from '../../../src/codes/catalogue.ts';
import type { Flag } from '../../flags.ts';
import { T } from '../../make/bundle.ts';
import { makeExport } from '../../make/export.ts';
import { type Patch, patched } from '../../make/patch.ts';
import { type Case, DIGEST, changing, invalid, made, sound } from './case.ts';

const raw = (id: string, attestation: string, code: Code, flag: Flag, comment: string): Case =>
  invalid(`document-${id}`, { attestation }, flag, comment, code);

export const documents = (): Case[] => {
  const no = 'attestation.INVALID';
  const shape = (id: string, patch: Patch, flag: Flag, comment: string): Case =>
    invalid(`format-${id}`, changing(patch), flag, comment, no);
  const exported = new TextDecoder().decode(makeExport().files['export-attestation.json']);
  return [
    shape('version', { '/schemaVersion': 2 }, 'UnknownValue', 'another version'),
    shape('algorithm', { '/algorithm': 'ecdsa-p384-sha384' }, 'WrongAlgorithm', 'another algorithm'),
    shape('algorithm-none', { '/algorithm': 'none' }, 'WrongAlgorithm', 'no algorithm'),
    shape('encoding', { '/encoding': 'p1363-base64url' }, 'WrongEncoding', 'another encoding'),
    shape('no-signature', { '/signature': undefined }, 'MissingMember', 'no signature'),
    shape('empty-signature', { '/signature': '' }, 'Length', 'an empty signature'),
    shape('no-statement', { '/statement': undefined }, 'MissingMember', 'no statement'),
    shape('extra', { '/x': 1 }, 'UnknownMember', 'a member next to the statement, which is not signed'),
    shape('certificate', { '/certificate': 'MIIB' }, 'UnknownMember', 'a key inside the evidence'),
    shape('statement-extra', { '/statement/x': 1 }, 'UnknownMember', 'an unknown member in the statement'),
    shape('no-key-id', { '/statement/keyId': undefined }, 'MissingMember', 'no key id'),
    shape('long-key-id', { '/statement/keyId': 'k'.repeat(257) }, 'Length', 'a key id of 257 characters'),
    shape('empty-issuer', { '/statement/issuer': '' }, 'Length', 'an empty issuer'),
    shape('time-text', { '/statement/issuedAtMs': String(T) }, 'WrongType', 'a time as text'),
    shape('time-fraction', { '/statement/issuedAtMs': T + 0.5 }, 'WrongType', 'half a millisecond'),
    shape(
      'digest-case',
      { '/statement/subject/manifestDigest': DIGEST.toUpperCase() },
      'LetterCase',
      'a digest in uppercase',
    ),
    shape(
      'subject-extra',
      { '/statement/subject/x': 1 },
      'UnknownMember',
      'an unknown member in the subject',
    ),
    shape('subject-list', { '/statement/subject': [] }, 'WrongType', 'a list of subjects'),
    shape(
      'no-reproduction',
      { '/statement/subject/reproduction': undefined },
      'MissingMember',
      'no reproduction',
    ),
    shape(
      'scope',
      { '/statement/subject/reproduction/scope': 'everything' },
      'UnknownValue',
      'another scope',
    ),
    raw('export', exported, no, 'WrongType', 'an attestation of an export where one of a bundle belongs'),
    raw('line-feed', `${sound}\n`, 'json.NOT_CANONICAL', 'NotCanonical', 'a line feed at the end'),
    raw(
      'formatted',
      JSON.stringify(made(), null, 2),
      'json.NOT_CANONICAL',
      'NotCanonical',
      'formatted for people',
    ),
    raw(
      'order',
      JSON.stringify(patched({}, { '/statement': made()['statement'], '/signature': made()['signature'] })),
      'json.NOT_CANONICAL',
      'NotCanonical',
      'members in another order',
    ),
    raw(
      'escape',
      sound.replace('"issuer"', '"\\u0069ssuer"'),
      'json.NOT_CANONICAL',
      'NotCanonical',
      'a name with an escape',
    ),
    raw(
      'number',
      sound.replace(`${T}`, `${T}.0`),
      'json.NOT_CANONICAL',
      'NotCanonical',
      'a number in another form',
    ),
    raw(
      'duplicate',
      sound.replace('{"algorithm"', '{"algorithm":"none","algorithm"'),
      'json.MEMBER_DUPLICATE',
      'DuplicateMember',
      'two algorithms',
    ),
    raw(
      'duplicate-statement',
      `${sound.slice(0, -1)},"statement":{}}`,
      'json.MEMBER_DUPLICATE',
      'DuplicateMember',
      'two statements: one is verified, the other is read',
    ),
    raw('bom', `\ufeff${sound}`, 'json.BOM', 'ByteOrderMark', 'a byte order mark'),
    raw('cut', sound.slice(0, -1), 'json.INVALID', 'Truncated', 'the last byte missing'),
    raw(
      'inexact',
      sound.replace(`${T}`, '9007199254740993'),
      'json.NUMBER_INEXACT',
      'InexactNumber',
      'a number that a double does not hold',
    ),
    raw('empty', '', 'json.INVALID', 'Structure', 'no bytes'),
    raw(
      'dsse',
      JSON.stringify({ payload: '', payloadType: 'application/vnd.in-toto+json', signatures: [] }),
      no,
      'WrongType',
      'a DSSE envelope',
    ),
  ];
};
