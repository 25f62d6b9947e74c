import type { Code } from '../codes/index.ts';
import type { Decision, Violation, WaiverUsed } from './decision.ts';
import type { PolicyDocument, Waiver } from './document/document.ts';
import { momentMs } from './document/duration.ts';
import type { Cause, Found } from './judge.ts';

type Standing = Waiver & { readonly expiresAtMs: number };

/** The waivers of one layer: they lift what its own rules find, and nothing that an extended policy asks for. */
export type Waivers = {
  /** The waiver that lifts a violation whose causes are all waived: the one that ends first. */
  lifts(found: Found, code: Code): WaiverUsed | undefined;
  /** Those that met nothing, and those that have expired. */
  unused(): Decision['unusedWaivers'];
};

export function waiversOf({ waivers = [] }: PolicyDocument, asOfMs: number): Waivers {
  const all: readonly Standing[] = waivers.map((one) => ({ ...one, expiresAtMs: momentMs(one.expires) }));
  const standing = all.filter(({ expiresAtMs }) => asOfMs < expiresAtMs);
  const used = new Set<Standing>();
  const waiverOf = ({ subject, code }: Cause): Standing | undefined =>
    standing
      .filter((one) => one.code === code && one.subject === subject)
      .reduce<Standing | undefined>(
        (best, one) => (best === undefined || one.expiresAtMs > best.expiresAtMs ? one : best),
        undefined,
      );
  return {
    lifts(found, code) {
      const causes = found.causes ?? [{ subject: found.subject, code }];
      const lifting = causes.map(waiverOf).filter((one) => one !== undefined);
      // It met something even where another cause stands.
      for (const one of lifting) used.add(one);
      if (causes.length === 0 || lifting.length < causes.length) return undefined;
      return wordsOf(earliest(lifting));
    },
    unused: () =>
      all
        .filter((one) => !used.has(one))
        .map((one) => ({ ...wordsOf(one), code: one.code, subject: one.subject })),
  };
}

const earliest = (waivers: readonly Standing[]): Standing =>
  waivers.reduce((best, one) => (one.expiresAtMs < best.expiresAtMs ? one : best));

const wordsOf = ({ reason, owner, expiresAtMs }: Standing): WaiverUsed => ({ reason, owner, expiresAtMs });

/** A violation as a decision shows it. */
export function violationOf(
  rule: Violation['rule'],
  code: Code,
  { causes: _causes, ...found }: Found,
  waiver: WaiverUsed | undefined,
): Violation {
  const shown = { rule, code, ...found };
  return waiver === undefined ? shown : { ...shown, state: 'waived', waiver };
}
