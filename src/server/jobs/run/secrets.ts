import { hideLikelySecrets } from '../../model/log.ts';

export type Redactor = ReturnType<typeof createRedactor>;

/** Removes known secrets from the events and the log of a program. */
export function createRedactor(secrets: readonly string[]) {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]); // messages quote names
  const longestFirst = forms.toSorted((a, b) => b.length - a.length);
  const text = (clear: string): string =>
    longestFirst.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), clear);
  /** Removes them from every text in a JSON value, so that no escape in the JSON hides one. */
  const value = (clear: unknown): unknown => {
    if (typeof clear === 'string') return text(clear);
    if (typeof clear !== 'object' || clear === null) return clear;
    if (Array.isArray(clear)) return clear.map(value);
    return Object.fromEntries(Object.entries(clear).map(([name, item]) => [text(name), value(item)]));
  };
  /** At least the bytes of the longest secret. */
  const longest = Buffer.byteLength(longestFirst[0] ?? '') * 4;
  return { text, value, longest };
}

const MAX_LOG_BYTES = 64 * 1024;

/** Takes the last 64 KiB of a log, as text that every database stores. */
export const takeEnd = (text: string): string =>
  Buffer.from(text).subarray(-MAX_LOG_BYTES).toString().replaceAll('\0', '\uFFFD');

/** Keeps the end of an output: its last 64 KiB, without secrets. */
export function createTail(redactor: Redactor) {
  // A secret that begins before the kept bytes must not leave its end in them.
  const margin = redactor.longest;
  let chunks: Buffer[] = [];
  let bytes = 0;
  let isCut = false;
  return {
    add(chunk: Buffer): void {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes < 4 * (MAX_LOG_BYTES + margin)) return;
      const end = Buffer.concat(chunks).subarray(-(MAX_LOG_BYTES + margin));
      [chunks, bytes, isCut] = [[end], end.length, true];
    },
    read(): string {
      const text = redactor.text(Buffer.concat(chunks).toString());
      const whole = isCut ? text.slice(margin) : text;
      return whole.replaceAll(/[^\n]+/g, (line) => hideLikelySecrets(redactLine(line, redactor)));
    },
  };
}

/** A line of JSON is compared as a value, because escapes could hide a secret. */
function redactLine(line: string, { value }: Redactor): string {
  if (!/^\s*[[{"]/.test(line)) return line;
  try {
    const parsed: unknown = JSON.parse(line);
    const clean = JSON.stringify(value(parsed));
    return clean === JSON.stringify(parsed) ? line : clean;
  } catch {
    return line; // it only looks like JSON
  }
}
