import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TrustedCertificate } from '../../../src/trust/certificate.ts';

/** A certificate with its key, in files of a folder. */
export type Issued = {
  readonly name: string;
  readonly pem: string;
  readonly key: string;
  readonly der: Uint8Array;
};

export type CertificateOptions = {
  /** Default: the certificate signs itself. */
  readonly by?: Issued;
  readonly subject?: string;
  readonly serial?: string;
  readonly key?: string;
  readonly digest?: string;
  /** As openssl writes it: `20200101000000Z`. */
  readonly from?: string;
  readonly to?: string;
  /** Extensions, one per line. */
  readonly extensions?: string;
};

export type TokenOptions = {
  readonly signer: Issued;
  /** Certificates in the token besides that of the signer, in this order. */
  readonly others?: readonly Issued[];
  readonly at?: string;
  readonly accuracySeconds?: number;
  readonly nonce?: number;
  readonly digest?: string;
  readonly imprintAlgorithm?: keyof typeof OIDS;
  /** Further options of `openssl cms`; default `-cades`, which adds the certificate id. */
  readonly options?: readonly string[];
};

export const CA = 'basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign';
export const TSA = 'extendedKeyUsage=critical,timeStamping\nkeyUsage=critical,digitalSignature';

const OIDS = { sha1: '06052b0e03021a', sha256: '0609608648016503040201', sha512: '0609608648016503040203' };

const der = (tag: number, ...contents: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(contents);
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const integer = (value: number): Buffer => {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return der(2, bytes[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes);
};

/** Makes certificates and tokens with openssl in a folder. */
export function openTsa(folder: string) {
  mkdirSync(folder, { recursive: true });
  const openssl = (...args: readonly string[]): Buffer =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  let count = 0;
  const issue = (name: string, options: CertificateOptions): Issued => {
    const { by, subject = name, key = 'EC', digest = 'sha256', extensions = '' } = options;
    const { from = '20200101000000Z', to = '20400101000000Z', serial = String(1000 + count++) } = options;
    const file = `${name}-${count++}`;
    const pair = key === 'EC' ? ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'] : [key];
    openssl(
      'req',
      '-newkey',
      ...pair,
      '-nodes',
      '-keyout',
      `${file}.key`,
      '-out',
      `${file}.csr`,
      '-subj',
      `/CN=${subject}`,
    );
    const db = `${file}.d`;
    mkdirSync(join(folder, db));
    writeFileSync(join(folder, db, 'index'), '');
    writeFileSync(join(folder, db, 'serial'), serial);
    writeFileSync(join(folder, `${file}.ext`), `${extensions}\nsubjectKeyIdentifier=hash\n`);
    writeFileSync(
      join(folder, `${file}.cnf`),
      `[ca]\ndefault_ca=c\n[c]\ndatabase=${db}/index\nserial=${db}/serial\nnew_certs_dir=${db}\ndefault_md=${digest}\npolicy=p\nunique_subject=no\n[p]\nCN=supplied\n`,
    );
    const issuer =
      by === undefined ? ['-selfsign', '-keyfile', `${file}.key`] : ['-cert', by.pem, '-keyfile', by.key];
    openssl(
      'ca',
      '-config',
      `${file}.cnf`,
      '-batch',
      '-notext',
      ...issuer,
      '-in',
      `${file}.csr`,
      '-out',
      `${file}.pem`,
      '-startdate',
      from,
      '-enddate',
      to,
      '-extfile',
      `${file}.ext`,
    );
    openssl('x509', '-in', `${file}.pem`, '-outform', 'DER', '-out', `${file}.der`);
    const path = (end: string): string => join(folder, `${file}.${end}`);
    return {
      name: subject,
      pem: path('pem'),
      key: path('key'),
      der: Uint8Array.from(readFileSync(path('der'))),
    };
  };
  /** A token made of its pieces, so that each of them can be wrong. */
  const stamp = (data: Uint8Array, options: TokenOptions): Uint8Array => {
    const {
      signer,
      others = [],
      at = '20260601120000Z',
      accuracySeconds,
      nonce,
      digest = 'sha256',
    } = options;
    const { imprintAlgorithm = 'sha256', options: more = ['-cades'] } = options;
    const file = join(folder, `token-${count++}`);
    const imprint = der(
      0x30,
      der(0x30, Buffer.from(OIDS[imprintAlgorithm], 'hex'), der(5)),
      der(4, createHash(imprintAlgorithm).update(data).digest()),
    );
    const info = der(
      0x30,
      integer(1),
      der(6, Buffer.from('2a0304', 'hex')),
      imprint,
      integer(count),
      der(0x18, Buffer.from(at)),
      ...(accuracySeconds === undefined ? [] : [der(0x30, integer(accuracySeconds))]),
      ...(nonce === undefined ? [] : [integer(nonce)]),
    );
    writeFileSync(file, info);
    const extra = others.map(({ pem }) => readFileSync(pem, 'utf8')).join('');
    if (extra !== '') writeFileSync(`${file}.others`, extra);
    openssl(
      'cms',
      '-sign',
      '-binary',
      '-nodetach',
      '-nosmimecap',
      '-econtent_type',
      '1.2.840.113549.1.9.16.1.4',
      '-md',
      digest,
      ...more,
      '-in',
      file,
      '-signer',
      signer.pem,
      '-inkey',
      signer.key,
      ...(extra === '' ? [] : ['-certfile', `${file}.others`]),
      '-outform',
      'DER',
      '-out',
      `${file}.tst`,
    );
    return Uint8Array.from(readFileSync(`${file}.tst`));
  };
  /** A response of `openssl ts`, as an authority sends it: at the time of the machine. */
  const reply = (
    query: Uint8Array,
    {
      signer,
      others = [],
      ess = 'sha256',
      accuracy = 'secs:1',
    }: Pick<TokenOptions, 'signer' | 'others'> & { readonly ess?: string; readonly accuracy?: string },
  ): Uint8Array => {
    const file = join(folder, `reply-${count++}`);
    writeFileSync(`${file}.tsq`, query);
    writeFileSync(`${file}.serial`, '01');
    writeFileSync(
      `${file}.cnf`,
      `[tsa]\ndefault_tsa=t\n[t]\nserial=${file}.serial\ncrypto_device=builtin\nsigner_digest=sha256\ndefault_policy=1.2.3.4\ndigests=sha1,sha256,sha512\naccuracy=${accuracy}\ness_cert_id_alg=${ess}\nordering=no\n`,
    );
    writeFileSync(`${file}.chain`, others.map(({ pem }) => readFileSync(pem, 'utf8')).join(''));
    openssl(
      'ts',
      '-reply',
      '-config',
      `${file}.cnf`,
      '-section',
      't',
      '-queryfile',
      `${file}.tsq`,
      '-signer',
      signer.pem,
      '-inkey',
      signer.key,
      ...(others.length === 0 ? [] : ['-chain', `${file}.chain`]),
      '-out',
      `${file}.tsr`,
    );
    return Uint8Array.from(readFileSync(`${file}.tsr`));
  };
  return { folder, openssl, issue, stamp, reply };
}

/** A certificate as a trust store has it. */
export const trusting = (
  { der: certificate }: Issued,
  limits: Partial<TrustedCertificate> = {},
): TrustedCertificate => ({ issuer: 'tsa.example', certificate, compromised: true, ...limits });
