import { DrillproofError } from '../../errors.ts';
import { column, type Sql } from './table.ts';

export type RateLease = {
  readonly bucket: string;
  /** The most requests to grant, from 1 to the burst. */
  readonly want: number;
  readonly perSecond: number;
  readonly burst: number;
  readonly nowMs: number;
};
/** The number of requests that the process may let through; if it is 0, the time until the next. */
export type RateShare = { readonly granted: number; readonly retryAfterMs: number };

// A row is a bucket. Its credit is a time, in which requests were earned. A clock that is set back removes no credit.
const AVAILABLE = `least(CAST(? AS BIGINT), rates.credit_us + greatest(0, CAST(? AS BIGINT) - rates.at_ms) * 1000)`;
const GRANTED = `least(CAST(? AS BIGINT), ${AVAILABLE} / CAST(? AS BIGINT))`;
const LEASE = `
  INSERT INTO rates (bucket, credit_us, granted, at_ms) VALUES (?, ?, ?, ?)
  ON CONFLICT (bucket) DO UPDATE SET
    granted = ${GRANTED},
    credit_us = ${AVAILABLE} - ${GRANTED} * CAST(? AS BIGINT),
    at_ms = greatest(rates.at_ms, excluded.at_ms)
  RETURNING granted, credit_us`;

/** Takes a share of a bucket in one statement, so that all processes together never exceed its rate. */
export async function leaseRate(sql: Sql, lease: RateLease): Promise<RateShare> {
  const { bucket, want, perSecond, burst, nowMs } = lease;
  const costUs = Math.max(1, Math.round(1e6 / perSecond));
  const fullUs = burst * costUs;
  const available = [fullUs, nowMs];
  const granted = [want, ...available, costUs];
  const inserted = [bucket, fullUs - want * costUs, want, nowMs];
  const [row] = await sql.all(LEASE, ...inserted, ...granted, ...available, ...granted, costUs);
  if (row === undefined) throw new DrillproofError('internal.BUG', 'the rate of a token was not stored');
  const creditUs = column.integer.read(row, 'credit_us');
  return {
    granted: column.integer.read(row, 'granted'),
    retryAfterMs: Math.max(1, Math.ceil((costUs - creditUs) / 1000)),
  };
}
