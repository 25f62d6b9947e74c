import type { Code } from '../../../src/codes/catalogue.ts';
import type { FaultResponder } from '../proxy.ts';

/** The requests of a mirror that a fault can affect. `rest` is the part again, a third of which is already stored. */
export const STAGES = ['resource', 'manifest', 'attestation', 'part', 'rest', 'report'] as const;
export type Stage = (typeof STAGES)[number];

/** The end of a mirror: `whole`, or a code. */
type End = 'whole' | Code;
/** Several ends if they depend on how much of a broken connection still arrives. */
type Ends = End | readonly End[];
/** The ends by kind of file. `document` is manifest and attestation (default: `resource`), `file` part and report. */
type EndsByKind = {
  readonly resource: Ends;
  readonly document?: Ends;
  readonly file: Ends;
  readonly rest?: Ends;
};

/** The expected ends of a mirror that meets a fault. */
type Expectation = {
  /** If the fault affects only the first request of its stage. */
  readonly once: Ends | EndsByKind;
  /** If it affects each of them. */
  readonly always: Ends | EndsByKind;
  /** The stages that the fault applies to; default all. */
  readonly at?: readonly Stage[];
  /** Only a timeout detects the fault, so the timeouts are short. */
  readonly timed?: true;
};
export type FaultRow = Expectation & { readonly name: string; readonly respond: FaultResponder };

/** Makes the rows of faults with the same expectation. */
export const makeRows = (
  expectation: Expectation,
  faults: Readonly<Record<string, FaultResponder>>,
): readonly FaultRow[] =>
  Object.entries(faults).map(([name, respond]) => ({ name, respond, ...expectation }));

/** One stage of each kind, for faults that have many forms. */
export const ONE_OF_EACH_KIND = { at: ['resource', 'attestation', 'part'] } as const;
/** The mirror ends like this whether the fault occurs once or always. */
export const endsAs = (end: End, more: Partial<Expectation> = {}): Expectation => ({
  once: end,
  always: end,
  ...more,
});
/** The mirror succeeds in spite of one fault, and ends like this if the fault always occurs. */
export const recoversOr = (always: Ends | EndsByKind, more: Partial<Expectation> = {}): Expectation => ({
  once: 'whole',
  always,
  ...more,
});

/** The ends that are right at a stage. */
export function endsAt(ends: Ends | EndsByKind, stage: Stage): readonly End[] {
  if (!isByKind(ends)) return [ends].flat();
  const { resource, document = resource, file, rest = file } = ends;
  return [
    { resource, manifest: document, attestation: document, part: file, rest, report: file }[stage],
  ].flat();
}

const isByKind = (ends: Ends | EndsByKind): ends is EndsByKind => typeof ends === 'object' && 'file' in ends;
