/** Log levels, from everything to failures only. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * An event. It never contains a token, a body, a path or a query: the parts that are needed are
 * members, and `tokenId` only names a token.
 */
export type LogEntry = {
  readonly level: LogLevel;
  readonly event: string;
  readonly correlationId?: string;
  /** Name of the operation in the table, or of what else was asked for. */
  readonly operation?: string;
  readonly method?: string;
  readonly status?: number;
  /** Code of the refusal, when it was one. */
  readonly code?: string;
  readonly durationMs?: number;
  /** Bytes of the body of the answer. */
  readonly bytes?: number;
  /** Whether the client disconnected before the answer had ended. */
  readonly aborted?: boolean;
  readonly tokenId?: string;
  /** Address of the client: of the connection, or what a trusted proxy says. */
  readonly client?: string;
  /** Further facts of an event, such as its operation, kind or address. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
  readonly error?: unknown;
};

/** Receives the events of a server or worker. */
export type Log = (entry: LogEntry) => void;
