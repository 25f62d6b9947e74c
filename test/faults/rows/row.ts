import type { Code } from '../../../src/codes/index.ts';
import type { Strike } from '../proxy.ts';

/** The requests of a mirror at which a fault can strike. `rest` is the part again, of which a third is here already. */
export const STAGES = ['resource', 'manifest', 'attestation', 'part', 'rest', 'report'] as const;
export type Stage = (typeof STAGES)[number];
/** One of each kind, for the many forms of one fault. */
export const A_STAGE_OF_EACH_KIND = ['resource', 'attestation', 'part'] as const satisfies readonly Stage[];

/** How a mirror ends: `whole`, or with a code. */
type End = 'whole' | Code;
/** All that may happen, where it depends on what of a broken connection still arrives. */
export type Ends = End | readonly End[];
/** Per kind of what is asked for. `document` is manifest and attestation, `file` part and report. */
export type EndsByKind = {
  readonly resource: Ends;
  readonly document: Ends;
  readonly file: Ends;
  readonly rest?: Ends;
};

/** A fault, and how a mirror ends that meets it. */
export type FaultRow = {
  readonly name: string;
  readonly strike: Strike;
  /** When it strikes the first request of its stage only. */
  readonly once: Ends | EndsByKind;
  /** When it strikes each of them. */
  readonly always: Ends | EndsByKind;
  /** The stages where it means something; default each. */
  readonly at?: readonly Stage[];
  /** Whether time alone tells that something is wrong: such rows run under small limits. */
  readonly timed?: true;
};

const KIND: Readonly<Record<Stage, 'resource' | 'document' | 'file'>> = {
  resource: 'resource',
  manifest: 'document',
  attestation: 'document',
  part: 'file',
  rest: 'file',
  report: 'file',
};

/** The ends that are right at a stage. */
export function endsAt(ends: Ends | EndsByKind, stage: Stage): readonly End[] {
  const here = isByKind(ends) ? ((stage === 'rest' ? ends.rest : undefined) ?? ends[KIND[stage]]) : ends;
  return typeof here === 'string' ? [here] : here;
}

const isByKind = (ends: Ends | EndsByKind): ends is EndsByKind => typeof ends === 'object' && 'file' in ends;
