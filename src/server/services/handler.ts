import type {
  Body,
  JsonOperationName,
  OperationName,
  Params,
  Query,
  Result,
  UploadOperationName,
} from '../../contract/index.ts';
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

/** What answers each row of the table. */
export type Handlers = {
  readonly [N in OperationName]: N extends UploadOperationName
    ? Upload<N>
    : Body<N> extends undefined
      ? Read<N>
      : Write<N>;
};
