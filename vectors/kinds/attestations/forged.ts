import { toBase64url } from '../../../src/bytes/text/encoding.ts';
import { T, bundle } from '../../make/bundle.ts';
import { hexOf, sha256Of } from '../../make/bytes.ts';
import { ecdsa } from '../../make/der.ts';
import { EXPORT_TYPE } from '../../make/export.ts';
import { N, signDer } from '../../make/keys.ts';
import { type Case, changing, der, invalid, message, r, s, signing, sound, withSignature } from './case.ts';

export const forged = (): Case[] => {
  const bad = 'attestation.SIGNATURE_INVALID';
  return [
    invalid(
      'run-changed',
      changing({ '/statement/subject/runId': 'run_another1' }),
      'ModifiedMessage',
      'another run after signing',
      bad,
    ),
    invalid(
      'time-changed',
      changing({ '/statement/issuedAtMs': T - 1 }),
      'ModifiedMessage',
      'another time after signing',
      bad,
    ),
    invalid(
      'digest-changed',
      changing({ '/statement/subject/stateHash': sha256Of('x') }),
      'ModifiedMessage',
      'another digest after signing',
      bad,
    ),
    invalid(
      'scenario-removed',
      changing({ '/statement/subject/reproduction/scenarioId': undefined }),
      'ModifiedMessage',
      'a member taken away after signing',
      bad,
    ),
    invalid(
      'signature-of-other',
      withSignature(signDer('a', new TextEncoder().encode('{}'))),
      'ModifiedSignature',
      'a signature of the key over another message',
      bad,
    ),
    invalid(
      'signed-with-line-feed',
      withSignature(signDer('a', Uint8Array.of(...message, 10))),
      'WrongMessage',
      'the message with a line feed after it',
      bad,
    ),
    invalid(
      'signed-attestation',
      withSignature(signDer('a', new TextEncoder().encode(sound))),
      'WrongMessage',
      'the whole attestation in place of its statement',
      bad,
    ),
    invalid(
      'signed-digest',
      withSignature(signDer('a', new TextEncoder().encode(sha256Of(message)))),
      'WrongMessage',
      'the digest of the statement, as text',
      bad,
    ),
    invalid(
      'signed-manifest',
      withSignature(signDer('a', bundle(1).manifestBytes)),
      'WrongMessage',
      'the manifest itself',
      bad,
    ),
    invalid(
      'signed-dsse',
      withSignature(signDer('a', dsse())),
      'WrongMessage',
      'the statement as DSSE would sign it',
      bad,
    ),
    invalid(
      'other-manifest',
      { manifestDigest: sha256Of('x') },
      'WrongSubject',
      'a sound statement about another manifest',
      'attestation.SUBJECT_MISMATCH',
    ),
    invalid(
      'other-type',
      signing({ '/predicateType': EXPORT_TYPE }),
      'WrongType',
      'a statement that calls itself one about an export',
      'attestation.PREDICATE_UNSUPPORTED',
    ),
    invalid(
      'foreign-type',
      signing({ '/predicateType': 'https://slsa.dev/provenance/v1' }),
      'WrongType',
      'a type of somebody else',
      'attestation.PREDICATE_UNSUPPORTED',
    ),
    invalid(
      'type-version',
      signing({ '/predicateType': 'urn:drillproof:attestation:evidence:v2' }),
      'WrongType',
      'a later version',
      'attestation.PREDICATE_UNSUPPORTED',
    ),
    invalid(
      'type-suffix',
      signing({ '/predicateType': 'urn:drillproof:attestation:evidence:v1 ' }),
      'WrongType',
      'a space behind the type',
      'attestation.PREDICATE_UNSUPPORTED',
    ),
  ];
};

const dsse = (): Uint8Array => {
  const text = new TextDecoder().decode(message);
  return new TextEncoder().encode(`DSSEv1 28 application/vnd.in-toto+json ${text.length} ${text}`);
};

export const encodings = (): Case[] => {
  const bad = 'attestation.SIGNATURE_ENCODING';
  const base64 = Buffer.from(der).toString('base64');
  const raw = Buffer.from(`${hexNumber(r)}${hexNumber(s)}`, 'hex');
  return [
    invalid('padded', withSignature(`${toBase64url(der)}=`), 'Padding', 'base64url with padding', bad),
    invalid('base64', withSignature(`+${base64.slice(1)}`), 'Alphabet', 'base64', bad),
    invalid(
      'hexadecimal',
      withSignature(hexOf(der)),
      'WrongEncoding',
      'hexadecimal, which is base64url of something else',
      bad,
    ),
    invalid('line-feed', withSignature(`${toBase64url(der)}\n`), 'Whitespace', 'a line feed after it', bad),
    invalid(
      'raw',
      withSignature(Uint8Array.from(raw)),
      'Structure',
      'r and s side by side, as JWS has them',
      bad,
    ),
    invalid(
      'trailing',
      withSignature(Uint8Array.of(...der, 0)),
      'TrailingBytes',
      'a byte after the DER',
      bad,
    ),
    invalid('zeros', withSignature(ecdsa(0n, 0n)), 'Range', 'r and s are 0', bad),
    invalid('s-plus-order', withSignature(ecdsa(r, s + N)), 'Range', 's + n', bad),
    invalid(
      'long-length',
      withSignature(Uint8Array.of(0x30, 0x81, ...der.subarray(1))),
      'LengthEncoding',
      'a length in the long form',
      bad,
    ),
    invalid('one-character', withSignature('A'), 'Length', 'six bits', bad),
  ];
};

const hexNumber = (value: bigint): string => value.toString(16).padStart(64, '0');
