import type { Statement } from '../../../src/evidence/bundle/attestation.ts';
import { trustStore } from '../../../src/trust/store.ts';
import type { Signer } from '../../../src/trust/key/signer.ts';
import type { TrustedKey } from '../../../src/trust/trusted-key.ts';
import {
  idOf,
  ISSUER,
  makeExport,
  makeSigner,
  NOW,
  ORGANIZATION,
  PROJECT,
  type MadeExport,
} from '../../support/evidence.ts';

export type Side = 0 | 1;
export type Pair<T> = readonly [T, T];

/** One of two parties whose valid evidence is mixed. */
type Party = {
  readonly signer: Signer;
  readonly issuer: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly key: Partial<TrustedKey>;
};

/** The facts of the two parties, with two keys. All evidence of one party fits into the place of that of the other. */
type Variant = readonly [name: string, parties: (one: Signer, two: Signer) => Pair<Partial<Party>>];

const A = { issuer: 'https://a.example' };
const B = { issuer: 'https://b.example' };
const rename = (signer: Signer, keyId: string) => ({ signer: { ...signer, keyId } });
const ofProject = (projectId: string) => ({ projectId, key: { projects: [projectId] } });
const ofOrganization = (organizationId: string) => ({
  organizationId,
  key: { organizations: [organizationId] },
});

export const VARIANTS: readonly Variant[] = [
  ['two issuers', () => [A, B]],
  ['two keys of one issuer', () => [{}, {}]],
  [
    'two issuers with one key',
    (signer) => [
      { ...A, signer },
      { ...B, signer },
    ],
  ],
  [
    'two issuers that call their keys by one name',
    (one, two) => [
      { ...A, ...rename(one, 'release') },
      { ...B, ...rename(two, 'release') },
    ],
  ],
  ['one key under two names', (signer) => [rename(signer, 'old'), rename(signer, 'new')]],
  ['two projects, a key for each', () => [ofProject(idOf('prj', 1)), ofProject(idOf('prj', 2))]],
  [
    'two organizations, a key for each',
    () => [ofOrganization(idOf('org', 1)), ofOrganization(idOf('org', 2))],
  ],
  ['an older and a newer version of the same, by one key', (signer) => [{ signer }, { signer }]],
];

export type MadeSide = Party & { readonly sample: MadeExport; readonly trusted: TrustedKey };

/** Two exports that are verified, over bundles of the same ids, and the store that trusts the keys of both. */
export async function makeSides(
  parties: Pair<Partial<Party>>,
): Promise<{ sides: Pair<MadeSide>; keys: readonly TrustedKey[]; trust: ReturnType<typeof trustStore> }> {
  const sides = [await makeSide(parties[0], 0), await makeSide(parties[1], 1)] as const;
  const name = ({ trusted }: MadeSide): string => JSON.stringify([trusted.issuer, trusted.keyId]);
  const keys = [...new Map(sides.map((side) => [name(side), side.trusted])).values()];
  return { sides, keys, trust: trustStore(keys) };
}

async function makeSide(party: Partial<Party>, n: Side): Promise<MadeSide> {
  const {
    signer = makeSigner(),
    issuer = ISSUER,
    organizationId = ORGANIZATION,
    projectId = PROJECT,
    key = {},
  } = party;
  const { keyId, point } = signer;
  const purposes = ['evidence', 'export'] as const;
  const trusted: TrustedKey = { issuer, keyId, point, compromised: true, purposes, ...key };
  const sample = await makeExport({
    signer,
    issuer,
    parts: 1,
    reports: 0,
    signing: { issuedAtMs: NOW - 50_000 + n },
    bundle: { organizationId, projectId, createdAtMs: NOW - 100_000 + n },
    input: { evidenceExportId: idOf('evexp', n + 1), organizationId, scope: { kind: 'project', projectId } },
  });
  return { signer, issuer, organizationId, projectId, key, sample, trusted };
}

/** The members of a statement that can come from either side; the rest of the statement is another piece. */
const MEMBERS = ['keyId', 'issuer', 'subject'] as const;
const PIECES = ['statement', 'signature', ...MEMBERS, 'part'] as const;
type Piece = (typeof PIECES)[number];
export type Mix = { readonly name: string } & { readonly from: Readonly<Record<Piece, Side>> };

/** All 2^6 ways of choosing each piece from one of the two sides, including the two originals. */
export const MIXES: readonly Mix[] = Array.from({ length: 2 ** PIECES.length }, (_, mask) => {
  const side = (piece: Piece): Side => ((mask >> PIECES.indexOf(piece)) & 1 ? 1 : 0);
  const from = Object.fromEntries(PIECES.map((piece) => [piece, side(piece)])) as Record<Piece, Side>;
  return { name: PIECES.map((piece) => `${piece} ${'ab'[from[piece]]}`).join(', '), from };
});

type Head = Pick<Statement, 'keyId' | 'issuer'> & { readonly subject: object };
type Signed<S extends Head> = { readonly signature: string; readonly statement: S };

/** The attestation that a mix makes of two. */
export const mixed = <S extends Head, A extends Signed<S>>(pair: Pair<A>, { from }: Mix): A => ({
  ...pair[0],
  signature: pair[from.signature].signature,
  statement: {
    ...pair[from.statement].statement,
    ...Object.fromEntries(MEMBERS.map((member) => [member, pair[from[member]].statement[member]])),
  },
});
