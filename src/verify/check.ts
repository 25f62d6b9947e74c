import type { Finding } from './finding.ts';

/**
 * How a check ended. `not_checked` means that it should have run and could not, and never counts as passed;
 * `not_applicable` means that there was nothing for it to judge.
 */
export type CheckState = 'passed' | 'failed' | 'not_checked' | 'not_applicable';

/** Every check there is, in the order in which it runs and is shown, with what a pass states. */
export const CHECKS = {
  'export.container': 'the one-file export is one unambiguous ZIP, every entry with its CRC-32',
  'export.manifest': 'manifest.json is canonical and follows its format',
  'export.expected': 'the export is the one the caller expects',
  'export.resource': 'export.json is well formed and agrees with manifest.json',
  'export.selection': 'the selection digest covers exactly the listed bundles and reports',
  'export.attestation': 'a trusted key vouches for the list of bundles',
  'export.files': 'exactly the listed parts and reports are there',
  'export.bag':
    'the bag around the export is complete, and every file in it has the digest that the bag states',
  'part.bytes': 'the archive has the listed size and SHA-256',
  'part.archive': 'the archive is one unambiguous ZIP, every byte accounted for',
  'bundle.manifest': 'manifest.json is canonical and follows its format',
  'bundle.row': 'the bundle is the one that the export manifest lists',
  'bundle.expected': 'the bundle belongs to whom the caller expects',
  'bundle.objects': 'exactly the listed objects are there, with their sizes and SHA-256',
  'dsse.envelope':
    'the envelope is DSSE with an in-toto statement of ours, which one of its signatures names',
  'attestation.format': 'the attestation is canonical, follows its format and is of the right type',
  'attestation.key': 'the trust store has a key that speaks for the statement',
  'attestation.signature': 'the signature verifies over the statement with that key',
  'attestation.binding': 'everything that the statement names is bound to the bytes that are here',
  'dsse.threshold': 'as many different trusted keys signed the envelope as were asked for',
  'dsse.attestation': 'the envelopes that the caller gave vouch for what is here',
  'second.reader': 'a second ZIP reader sees the same entries and bytes',
  'second.crypto': 'a second implementation judges the signature the same',
  'local-report.bytes': 'the archive has the listed size and SHA-256',
  'tool-source.format': 'the document is a tool source resource of well-formed text within 1 MiB',
  'tool-source.bytes': 'the source has the size and SHA-256 that the resource states',
  'tool-source.lock': 'every field agrees with the lock that the caller trusts',
} as const;

export type CheckId = keyof typeof CHECKS;

export type Check = {
  readonly id: CheckId;
  readonly state: CheckState;
  /** Why it was not checked or does not apply. */
  readonly reason?: string;
};

/** Collects checks and findings while verification goes through its steps. */
export type Ledger = {
  readonly findings: readonly Finding[];
  readonly checks: readonly Check[];
  /** Records that a check ran: it failed when one of its findings is an error, and could not run when one is inaccessible. */
  ran(id: CheckId, findings: readonly Finding[]): boolean;
  /** Records that a check could not run or has nothing to judge. */
  skipped(id: CheckId, state: 'not_checked' | 'not_applicable', reason: string): void;
  /** Records that a check failed for a reason that stands with findings elsewhere. */
  failed(id: CheckId, reason: string): void;
  /** Adds findings to a check that ran already: it can only become worse by them, as in `ran`. */
  amend(id: CheckId, findings: readonly Finding[]): void;
  /** Adds findings that belong to no check: facts and warnings. */
  note(findings: readonly Finding[]): void;
};

/** How a check with these findings ended. */
function checkOf(id: CheckId, found: readonly Finding[]): Check {
  const errors = found.filter((one) => one.severity === 'error');
  if (errors.length === 0) return { id, state: 'passed' };
  const [unread, ...more] = errors.filter((one) => one.class === 'inaccessible');
  if (unread === undefined || more.length + 1 < errors.length) return { id, state: 'failed' };
  return { id, state: 'not_checked', reason: unread.message };
}

const ORDER = new Map(Object.keys(CHECKS).map((id, index) => [id, index]));

export function createLedger(): Ledger {
  const findings: Finding[] = [];
  const checks: Check[] = [];
  const add = (check: Check): void => {
    checks.push(check);
    checks.sort((a, b) => ORDER.get(a.id)! - ORDER.get(b.id)!);
  };
  // One at a time: there may be more of them than a call takes arguments.
  const addAll = (found: readonly Finding[]): void => {
    for (const one of found) findings.push(one);
  };
  return {
    findings,
    checks,
    ran(id, found) {
      addAll(found);
      const check = checkOf(id, found);
      add(check);
      return check.state === 'passed';
    },
    skipped(id, state, reason) {
      add({ id, state, reason });
    },
    failed(id, reason) {
      add({ id, state: 'failed', reason });
    },
    amend(id, found) {
      addAll(found);
      const at = checks.findIndex((check) => check.id === id);
      const check = checkOf(id, found);
      if (at >= 0 && check.state !== 'passed' && checks[at]!.state !== 'failed') checks[at] = check;
    },
    note(found) {
      addAll(found);
    },
  };
}
