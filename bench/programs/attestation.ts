/**
 * Verifies statements for two seconds of CPU time, on one core, and prints how many per second of it: other programs that
 * run at the same time change little.
 *
 *     node attestation.ts drillproof|crypto|sigstore|jose INPUT.json
 */
import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The same statements, signed with one key, in the form of each library. */
export type Statements = {
  readonly trust: unknown;
  readonly pem: string;
  readonly rows: readonly {
    readonly attestation: string;
    readonly message: string;
    readonly signature: string;
    readonly envelope: unknown;
    readonly jws: string;
  }[];
};

const [, , library = '', path = ''] = process.argv;
const { trust, pem, rows } = JSON.parse(readFileSync(path, 'utf8')) as Statements;
const key = createPublicKey(pem);
const bytes = (field: 'attestation' | 'message'): Buffer[] => rows.map((row) => Buffer.from(row[field]));

type Verify = (row: number) => boolean | Promise<boolean>;

/** Each loads its library alone, and prepares once what a program that verifies many would keep. */
const LIBRARIES: Readonly<Record<string, () => Promise<Verify>>> = {
  async drillproof() {
    const { parseTrustStore, verifyAttestation } = await import('drillproof');
    const options = {
      asOfMs: Date.UTC(2026, 10, 22),
      trust: parseTrustStore(Buffer.from(JSON.stringify(trust))),
    };
    const documents = bytes('attestation');
    return (row) => verifyAttestation(documents[row]!, options).verdict === 'valid';
  },
  crypto() {
    const messages = bytes('message');
    const signatures = rows.map(({ signature }) => Buffer.from(signature, 'base64url'));
    return Promise.resolve((row) => verify('sha256', messages[row]!, key, signatures[row]!));
  },
  async sigstore() {
    const { bundleFromJSON } = await import('@sigstore/bundle');
    const { toSignedEntity, toTrustMaterial, Verifier } = await import('@sigstore/verify');
    const material = toTrustMaterial(
      { mediaType: '', certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] },
      () => ({ publicKey: key, validFor: () => true }),
    );
    const verifier = new Verifier(material, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
    const bundles = rows.map(({ envelope }) =>
      JSON.stringify({
        mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
        verificationMaterial: { publicKey: { hint: 'bench' }, tlogEntries: [] },
        dsseEnvelope: envelope,
      }),
    );
    return (row) => Boolean(verifier.verify(toSignedEntity(bundleFromJSON(JSON.parse(bundles[row]!)))));
  },
  async jose() {
    const { compactVerify } = await import('jose');
    return async (row) => (await compactVerify(rows[row]!.jws, key)).payload.length > 0;
  },
};

const verifyRow = await LIBRARIES[library]!();
const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
async function verifyAll(rounds: number): Promise<void> {
  for (let row = 0; row < rounds * rows.length; row++) {
    const result = verifyRow(row % rows.length);
    if (!(typeof result === 'boolean' ? result : await result)) throw new Error(`row ${row} does not verify`);
  }
}

await verifyAll(2); // warm
const start = cpuSeconds();
let rounds = 0;
for (; cpuSeconds() - start < 2; rounds++) await verifyAll(1);
console.log(`${(rounds * rows.length) / (cpuSeconds() - start)} per second`);
