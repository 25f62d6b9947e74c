import type { Code } from '../../codes/index.ts';
import type { TrustedKey } from '../../trust/index.ts';
import type { ReportChain } from '../../report/index.ts';
import type { BundleReport, Listing, Verdict } from '../../verify/index.ts';
import type { BlobTree } from '../sources.ts';

/** A file of keys that the user chose. `issuer` is whose key it is, for a file that does not state it. */
export type KeyFile = { readonly name: string; readonly bytes: Uint8Array; readonly issuer?: string };

export type Request = {
  readonly tree: BlobTree;
  readonly keys: readonly KeyFile[];
  /** DSSE files that carry signatures outside the evidence. */
  readonly envelopes: readonly File[];
  readonly asOfMs: number;
  readonly manifestDigest?: string;
};

/** What the first worker gets: the request, and a port to each of the others. */
export type Start = {
  readonly kind: 'start';
  readonly request: Request;
  readonly ports: readonly MessagePort[];
};
/** What every other worker gets: the port where parts come. */
export type Help = { readonly kind: 'help'; readonly port: MessagePort };

/** How a helper verifies, sent through its port first. */
export type HelperSettings = {
  readonly asOfMs: number;
  readonly trustedKeys?: readonly TrustedKey[];
};

export type PartJob = {
  readonly id: number;
  readonly path: string;
  readonly blob: Blob;
  readonly listed: Listing;
};
export type Failure = { readonly code: Code; readonly message: string; readonly path?: string };
export type PartAnswer = { readonly id: number } & (
  | { readonly report: BundleReport }
  | { readonly failure: Failure }
);

/** One part in the table: its row as HTML, what is searched, and a key for each column. */
export type PartLine = {
  readonly row: string;
  readonly text: string;
  readonly verdict: Verdict;
  readonly keys: readonly (string | number)[];
};

export type View = {
  readonly verdict: Verdict | ReportChain['verdict'];
  readonly sections: readonly string[];
  readonly parts: readonly PartLine[];
};

/** A verification that came to an end. */
export type Verified = {
  readonly view: View;
  /** The same bytes as `drillproof verify --json` writes, or `report verify --json`. */
  readonly json: string;
  /** Names of key files that are inside the evidence too. */
  readonly keysInside: readonly string[];
};

/** Asks the first worker for one part in full. */
export type Ask = { readonly kind: 'ask'; readonly part: number };

/** What workers report to the page. */
export type Progress =
  | { readonly kind: 'planned'; readonly parts: number; readonly bytes: number }
  | { readonly kind: 'part'; readonly done: number }
  | { readonly kind: 'read'; readonly bytes: number }
  | { readonly kind: 'done'; readonly verified: Verified }
  | { readonly kind: 'details'; readonly part: number; readonly html: string }
  | { readonly kind: 'failed'; readonly failure: Failure };
