import { defined } from '../../bytes/arguments.ts';
import type { Code } from '../../codes/catalogue.ts';
import { DrillproofError } from '../../errors.ts';
import type { Trusted } from '../../trust/store.ts';
import type { BundleReport } from '../../verify/report.ts';
import type { Listing } from '../../verify/part/context.ts';
import type { BlobTree } from '../sources.ts';

/** A file of keys that the user chose. `issuer` is for a file that does not state it. */
export type KeyFile = { readonly name: string; readonly bytes: Uint8Array; readonly issuer?: string };

export type Request = {
  /** Exports, bags, parts, or the files of signed reports; several are verified one after the other. */
  readonly trees: readonly BlobTree[];
  readonly keys: readonly KeyFile[];
  /** DSSE files that carry signatures outside the evidence. */
  readonly envelopes: readonly File[];
  /** Names of chosen files that could be timestamp tokens, which the page does not check. */
  readonly tokens: readonly string[];
  readonly asOfMs: number;
  readonly manifestDigest?: string;
  /** What the file of the page states as its SHA-256. */
  readonly page?: string;
};

/** Starts the first worker with the request and a port to each other worker. */
export type Start = {
  readonly kind: 'start';
  readonly request: Request;
  readonly ports: readonly MessagePort[];
};
/** Starts another worker with the port at which parts arrive. */
export type StartHelper = { readonly kind: 'helper'; readonly port: MessagePort };

/** The first message to another worker; then come parts, and `end`, which ends it with its memory. */
export type HelperSettings = { readonly asOfMs: number; readonly trusted?: Trusted };

export type PartJob = {
  readonly id: number;
  readonly path: string;
  readonly blob: Blob;
  readonly listed: Listing;
};
export type PackedError = {
  readonly code: Code;
  readonly message: string;
  readonly path?: string;
  /** What to do, instead of the advice of the code. */
  readonly hint?: string;
};
/** Describes an error to another worker; an unexpected error has the code `internal.BUG`. */
export function packFailure(error: unknown): PackedError {
  if (!(error instanceof DrillproofError))
    return { code: 'internal.BUG', message: error instanceof Error ? error.message : String(error) };
  const { code, message, path, details = {} } = error;
  const hint = typeof details['hint'] === 'string' ? details['hint'] : undefined;
  return defined({ code, message, path, hint });
}

export type PartAnswer = { readonly id: number } & (
  | { readonly report: BundleReport }
  | { readonly failure: PackedError }
);

export type View = {
  /** The result in words, for the title of the tab. */
  readonly title: string;
  /** The result in one word, for the names of files. */
  readonly verdict: string;
  /** The report as escaped HTML. */
  readonly html: string;
};

/** The result of a verification. */
export type Verified = {
  readonly view: View;
  /** Warnings that are shown before the result. */
  readonly notes: readonly string[];
};

/** The files that `drillproof verify` writes, or `report verify`. */
export type FileKind = 'html' | 'json';
/** Requests from the first worker what is inside a row of the table as HTML, or the whole report as a file. */
export type Ask = { readonly kind: 'ask'; readonly row: number | FileKind };

/** Requests from a new worker what a file of keys contains. */
export type Describe = { readonly kind: 'describe'; readonly file: KeyFile };

/** A message of a worker to the page. */
export type WorkerMessage =
  | { readonly kind: 'opened'; readonly bytes: number }
  | { readonly kind: 'planned'; readonly parts: number }
  | { readonly kind: 'part'; readonly done: number }
  | { readonly kind: 'read'; readonly bytes: number }
  /** `isOpen`: the worker can look into the rows of the table. */
  | { readonly kind: 'done'; readonly verified: Verified; readonly isOpen: boolean }
  | { readonly kind: 'inside'; readonly html: string }
  | { readonly kind: 'file'; readonly extension: FileKind; readonly blob: Blob }
  | { readonly kind: 'keys'; readonly html: string }
  | { readonly kind: 'failed'; readonly failure: PackedError };
