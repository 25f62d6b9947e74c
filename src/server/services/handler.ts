import { defined } from '../../bytes/index.ts';
import type {
  Body,
  JsonOperationName,
  OperationName,
  Params,
  Query,
  Result,
  UploadOperationName,
} from '../../contract/index.ts';
import type { Cursors, CursorScope } from '../http/sealed.ts';
import type { Download } from '../http/download.ts';
import type { Principal } from '../http/tokens.ts';
import type { Content } from '../http/body.ts';
import type { Change, Outcome } from './idempotency.ts';

type At<N extends OperationName> = { readonly params: Params<N>; readonly query: Query<N> };

/** A read that was authenticated, validated and permitted. */
type Read<N extends OperationName> = (
  call: At<N> & { readonly principal: Principal },
) => Promise<N extends JsonOperationName ? Result<N> : Download>;

/** A change that was authenticated, validated and permitted; its outcome records whether it was replayed. */
type Write<N extends OperationName> = (
  call: At<N> & { readonly change: Change; readonly body: Body<N> },
) => Promise<Outcome<Result<N>>>;

/** Bytes sent to a signed address, which the handler checks itself: there is no token. */
type Upload<N extends OperationName> = (call: At<N> & { readonly content: Content }) => Promise<Result<N>>;

export type Handlers = {
  readonly [N in OperationName]: N extends UploadOperationName
    ? Upload<N>
    : Body<N> extends undefined
      ? Read<N>
      : Write<N>;
};

type PageQuery = { readonly cursor?: string | undefined; readonly limit: number };

/** Reads pages of `limit` rows; one row more is read to find out whether another page follows. */
export const createPager =
  (cursors: () => Promise<Cursors>) =>
  async <R extends { readonly ordinal: number }>(
    scope: CursorScope,
    { cursor, limit }: PageQuery,
    read: (after: number, limit: number) => Promise<readonly R[]>,
  ): Promise<{ readonly rows: readonly R[]; readonly next: { readonly nextCursor?: string } }> => {
    const codec = await cursors();
    const rows = await read(codec.decode(scope, cursor), limit + 1);
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return { rows: shown, next: defined({ nextCursor: last && codec.encode(scope, last.ordinal) }) };
  };
