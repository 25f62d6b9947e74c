import { appendFileSync } from 'node:fs';
import { defined, isoTime } from '../../bytes/index.ts';
import { ioError } from '../../node/index.ts';

/** Who did what. Actors are ids of tokens, or `admin:` and the user of this machine. */
export type AuditEntry = {
  readonly actor: string;
  readonly action: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly code?: string;
};

/** Records an entry. @throws DrillproofError `io.DISK_FULL`, `io.READ_ONLY`, `io.WRITE_FAILED` */
export type Audit = (entry: AuditEntry) => void;

/**
 * An audit log in a file that only its owner can read: one JSON document on each line. It is opened for each entry, so
 * that it can be rotated by renaming it. Several processes can share one file.
 */
export const createAudit =
  (path: string, now: () => number): Audit =>
  ({ actor, action, facts, code }) => {
    const line = JSON.stringify({ time: isoTime(now()), actor, action, ...defined({ code }), ...facts });
    try {
      appendFileSync(path, `${line}\n`, { mode: 0o600 });
    } catch (cause) {
      throw ioError(cause, path, 'write');
    }
  };
