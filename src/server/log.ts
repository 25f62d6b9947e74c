/** One thing that happened. It never holds a token or a body. */
export type LogEntry = {
  readonly level: 'info' | 'warn' | 'error';
  readonly event: string;
  readonly correlationId?: string;
  readonly error?: unknown;
};

export type Log = (entry: LogEntry) => void;
