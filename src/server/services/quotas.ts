import { Refusal } from '../http/envelope.ts';
import type { OrganizationRow, Tx } from '../store/store.ts';
import type { Change } from './handler.ts';

const isFull = (used: number, limit = Infinity): boolean => used >= limit;

const busyError = (limit: number | undefined, what: string): Refusal => {
  const message = `the organization has ${limit} unfinished ${what}, which is its limit`;
  return new Refusal('control.RATE_LIMITED', message, { retryAfterMs: 5_000, details: { limit } });
};

/**
 * Requires that one more operation, or an upload of these bytes, is within the quotas of an organization, and returns the
 * organization. It locks it until the transaction ends, so that two requests cannot both take the last place. An upload counts
 * with its bytes from now on. The evidence of work that has begun is always stored, so new work needs a free byte.
 * @throws Refusal `control.RATE_LIMITED` when it may succeed later, `control.ENTITLEMENT_EXCEEDED` for stored bytes
 */
export async function assertQuota(
  tx: Tx,
  { principal: { organizationId } }: Change,
  wanted: 'operation' | { readonly uploadBytes: number },
  nowMs: number,
): Promise<Partial<OrganizationRow>> {
  const organization: Partial<OrganizationRow> = (await tx.organizations.find(organizationId)) ?? {};
  const { maxStoredBytes, maxOperations, maxUploads } = organization;
  if ((maxStoredBytes ?? maxOperations ?? maxUploads) === undefined) return organization;
  await tx.organizations.lock(organizationId);
  const { storedBytes, operations, uploads } = await tx.usage.ofOrganization(organizationId, nowMs);
  const isOperation = wanted === 'operation';
  if (isOperation && isFull(operations, maxOperations)) throw busyError(maxOperations, 'operations');
  if (!isOperation && isFull(uploads, maxUploads)) throw busyError(maxUploads, 'uploads');
  if (!isFull(storedBytes + (isOperation ? 0 : wanted.uploadBytes - 1), maxStoredBytes)) return organization;
  throw new Refusal(
    'control.ENTITLEMENT_EXCEEDED',
    `the organization has ${storedBytes} of the ${maxStoredBytes} bytes that it may store`,
    { details: { storedBytes, maxStoredBytes } },
  );
}
