import type * as z from 'zod/mini';
import type {
  BytesOperationName,
  CallableName,
  JsonOperationName,
  OperationName,
  operations,
  Params,
  Result,
} from '../contract/operations/operations.ts';
import type { CallOptions } from './options.ts';
import type { Download, DownloadOptions } from './http/download.ts';

type Rows = typeof operations;

// A caller may omit the members for which a schema fills in defaults.
type Optional<S extends z.ZodMiniType> = {
  [K in keyof z.infer<S>]: K extends keyof z.input<S> ? (undefined extends z.input<S>[K] ? K : never) : never;
}[keyof z.infer<S>];
type WithDefaults<S extends z.ZodMiniType> = Omit<z.infer<S>, Optional<S>> &
  Partial<Pick<z.infer<S>, Optional<S>>>;

type QueryInput<N extends OperationName> = Rows[N] extends { query: infer S extends z.ZodMiniType }
  ? WithDefaults<S>
  : unknown;
type BodyInput<N extends OperationName> = Rows[N] extends { body: infer S extends z.ZodMiniType }
  ? z.input<S> extends Record<string, never>
    ? unknown // the empty object, which needs no members of its own
    : z.input<S>
  : unknown;

/** The input of an operation: the members of its path, its query and its body in one object. */
export type Input<N extends OperationName> = Params<N> & QueryInput<N> & BodyInput<N>;

type Method<N extends string> = N extends JsonOperationName
  ? (input: Input<N>, options?: CallOptions) => Promise<Result<N>>
  : N extends BytesOperationName
    ? (input: Input<N>, options?: DownloadOptions) => Promise<Download>
    : unknown;

/**
 * One method for each callable row of the table, under its name split on dots. Each checks its input and the answer, and
 * fails as `Client` describes. Methods that change something have an idempotency key, so a retry does it once.
 */
export type Methods = {
  /** World sessions: simulated environments that drills use. */
  readonly sessions: {
    /** Sets a new, later lifetime of a session that is ready and has not expired. */
    readonly extend: Method<'sessions.extend'>;
    /** Reads one session. */
    readonly read: Method<'sessions.read'>;
  };
  /** Conversations that write drills in a repository. */
  readonly authoring: {
    /** The conversations. */
    readonly sessions: {
      /** Reads one conversation. */
      readonly read: Method<'authoring.sessions.read'>;
      /** Ends a conversation, which takes no further turns. */
      readonly close: Method<'authoring.sessions.close'>;
    };
    /** The turns of a conversation. */
    readonly turns: {
      /** Sends the next prompt. The answer has the turn and its operation; wait for it with `operations.wait`. */
      readonly create: Method<'authoring.turns.create'>;
      /** Reads one turn. */
      readonly read: Method<'authoring.turns.read'>;
      /** Reads one page of the turns, first to last. */
      readonly list: Method<'authoring.turns.list'>;
    };
  };
  /** Builds, and the uploads that make them. */
  readonly builds: {
    /** Uploads of source archives. */
    readonly uploads: {
      /** Begins an upload. The answer has the address for `send`. */
      readonly create: Method<'builds.uploads.create'>;
    };
    /** Attempts to build an upload. */
    readonly attempts: {
      /** Reads one attempt, with the provenance of its source. */
      readonly read: Method<'builds.attempts.read'>;
    };
    /** Tools in a build. */
    readonly tools: {
      /** Reads the JavaScript of one locked package. `verifyToolSource` verifies it. */
      readonly source: Method<'builds.tools.source'>;
    };
  };
  /** Runs of drills. */
  readonly runs: {
    /** Reads one run. */
    readonly read: Method<'runs.read'>;
    /** Repetitions of runs that ended. */
    readonly reruns: {
      /** Repeats a run that ended, from its pinned inputs. The answer has the operation; wait for it with `operations.wait`. */
      readonly create: Method<'runs.reruns.create'>;
    };
  };
  /** Evidence: bundles, and exports of many. */
  readonly evidence: {
    /** Bundles of evidence. */
    readonly bundles: {
      /** Reads the metadata of one bundle, with its attestation. */
      readonly read: Method<'evidence.bundles.read'>;
    };
    /** Exports of bundles. */
    readonly exports: {
      /** Reads the state of one export. */
      readonly read: Method<'evidence.exports.read'>;
      /** Reads one page of the exports of a project; `exports` of the client reads every page. */
      readonly list: Method<'evidence.exports.list'>;
      /** Downloads the manifest of an available export. */
      readonly manifest: Method<'evidence.exports.manifest'>;
      /** Downloads the attestation of an available export; `control.NOT_FOUND` if it is unsigned. */
      readonly attestation: Method<'evidence.exports.attestation'>;
      /** The archives of bundles. */
      readonly parts: {
        /** Downloads one part, without a check of its bytes: `downloadPart`, `verifyPart` and `mirrorExport` check them. */
        readonly download: Method<'evidence.exports.parts.download'>;
      };
      /** Reads one page of the local reports of an export; `localReports` of the client reads every page. */
      readonly localReports: Method<'evidence.exports.localReports'> & {
        /** Downloads one local report. */
        readonly archive: Method<'evidence.exports.localReports.archive'>;
      };
    };
  };
  /** Long-running work. */
  readonly operations: {
    /** Reads one operation. */
    readonly read: Method<'operations.read'>;
    /** Requests that an operation end. */
    readonly cancel: Method<'operations.cancel'>;
  };
  /** Environments, which uploads advance. */
  readonly environments: {
    /** Reads one environment: its build, and the version that an upload must expect. */
    readonly read: Method<'environments.read'>;
  };
};

type AnyMethod = (input: object, options?: object) => Promise<unknown>;
type Branch = { [segment: string]: Branch } | (AnyMethod & { [segment: string]: Branch });

/**
 * The tree of methods. A name that continues another one (`…localReports` and `…localReports.archive`) makes a
 * method that has methods.
 */
export function buildMethodTree(
  names: readonly CallableName[],
  method: (name: CallableName) => AnyMethod,
): object {
  const root: Branch = {};
  for (const name of names.toSorted()) {
    const segments = name.split('.');
    const last = segments.pop() ?? name;
    let branch: Branch = root;
    for (const segment of segments) branch = branch[segment] ??= {};
    branch[last] = Object.assign(method(name), branch[last]);
  }
  return root;
}
