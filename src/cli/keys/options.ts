import { SIGNER_PURPOSES } from '../../trust/store.ts';
import { PURPOSES } from '../../trust/trusted-key.ts';
import { option, type OptionsOf } from '../shared/options/option.ts';
import { FORCE, parseTime, STANDARD } from '../shared/options/options.ts';

export const GENERATE = [
  ...STANDARD,
  option('--out <file>', 'private key to write, as PKCS#8 in PEM, readable by you alone').required(),
  option('--public <file>', 'public key to write (default: the same name with .pub.pem)'),
  FORCE,
];
export type GenerateOptions = OptionsOf<typeof GENERATE>;

/** A time, or `none` to remove a limit. */
export type Moment = number | 'none';
const parseMoment = (value: string): Moment => (value === 'none' ? 'none' : parseTime(value));

/** The options that limit a key. */
const limitOptions = <M extends Moment>(read: (value: string) => M) => [
  option('--not-before <time>', 'first moment at which the key is valid', read),
  option('--not-after <time>', 'last moment at which the key is valid', read),
  option('--project <id>', 'valid only for this project').repeat(),
  option('--organization <id>', 'valid only for this organization').repeat(),
];

const purposeOption = () =>
  option('--purpose <purpose>', 'valid for these statements').choices(PURPOSES).repeat();

export const ADD = [
  ...STANDARD,
  option('--trust <file>', 'trust store to add to').required(),
  option('--issuer <name>', 'name under which the keys sign, exactly as statements have it').required(),
  option('--key-id <id>', 'name of the key in statements (default: "kid", or sha256 of the public key)'),
  option('--new-only', 'skip keys that are already trusted under this name'),
  ...limitOptions(parseTime),
  option(
    '--purpose <purpose>',
    `valid for these statements; timestamp: a certificate of a time authority (default: ${SIGNER_PURPOSES.join(' and ')})`,
  )
    .choices([...PURPOSES, 'timestamp'])
    .repeat(),
];
export type AddOptions = OptionsOf<typeof ADD>;

const WHICH = [
  ...STANDARD,
  option('--trust <file>', 'trust store to change').required(),
  option('--issuer <name>', 'issuer of the key, if several have a key of that name'),
];

export const SET = [
  ...WHICH,
  ...limitOptions(parseMoment),
  purposeOption(),
  option('--any-project', 'valid for every project').conflicts('--project'),
  option('--any-organization', 'valid for every organization').conflicts('--organization'),
];
export type SetOptions = OptionsOf<typeof SET>;

export const REVOKE = [
  ...WHICH,
  option('--at <time>', 'moment of the revocation (default: now); none removes it', parseMoment),
  option('--not-compromised', 'accept signatures made before that moment'),
];
export type RevokeOptions = OptionsOf<typeof REVOKE>;
