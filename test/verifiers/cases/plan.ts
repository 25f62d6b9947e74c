import { Random } from './random.ts';

/** One edit: what it changes, and the seed of its choices. */
export type Edit = { readonly name: string; readonly seed: number };

/** Everything that a case follows from. */
export type Plan = {
  readonly form: 'part' | 'folder' | 'bag' | 'one file';
  /** Whether the first bundle is signed. */
  readonly signed: boolean;
  readonly bundles: number;
  readonly reports: number;
  /** Whether the list of the export is signed. */
  readonly listed: boolean;
  readonly edits: readonly Edit[];
};

/** The names of edits, each as often as it is to be chosen. */
const listNames = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [, weight = '', name = ''] = /^ *(\d+) (.*)$/.exec(line) ?? [];
      return Array.from({ length: Number(weight) }, () => name);
    });

const PART = listNames(`
  4 run
  3 run words
  2 run text
  3 identity
  3 manifest
  2 manifest text
  2 attestation statement
  2 attestation time
  1 attestation signer
  4 attestation signature
  1 attestation
  2 attestation text
  9 part entries
  3 part end
  8 part fields
  1 part bytes
  7 keys
  1 trust
  2 trust text
  2 time
`);
const TREE = listNames(`
  3 rows
  3 list
  2 list text
  4 resource
  4 resource text
  1 list attestation statement
  1 list attestation time
  1 list attestation signer
  2 list attestation signature
  1 list attestation
  1 list attestation text
  4 late part
  6 files
`);
const FOLDER = listNames(`
  4 folder
`);
const BAG = listNames(`
  60 bag
  10 bag files
`);
const ONE_FILE = listNames(`
  6 export entries
  3 export end
  6 export fields
  1 export bytes
`);

const NAMES = {
  part: PART,
  folder: [...PART, ...TREE, ...TREE, ...FOLDER],
  bag: [...PART, ...TREE, ...FOLDER, ...BAG],
  'one file': [...PART, ...TREE, ...TREE, ...ONE_FILE, ...ONE_FILE],
} as const;

/** The plan of the case with this seed. */
export function makePlan(seed: number): Plan {
  const random = new Random(seed);
  const form = random.pick<Plan['form']>([
    'part',
    'part',
    'part',
    'part',
    'folder',
    'folder',
    'one file',
    'one file',
    'bag',
  ]);
  const count = random.pick([0, 1, 1, 1, 1, 2, 2, 2, 3, 4]);
  const shape = {
    form,
    signed: !random.once(10),
    bundles: random.pick([1, 1, 1, 1, 1, 2, 2, 0]),
    reports: random.pick([0, 0, 1, 2]),
    listed: !random.once(4),
  };
  const edits = Array.from({ length: count }, () => ({
    name: random.choose(NAMES[form]) ?? 'time',
    seed: random.next(),
  }));
  return { ...shape, edits };
}
