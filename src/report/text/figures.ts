/** `1234567` as `1,234,567`, the same in every locale. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 part`, `2 parts`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** A size for people: `512 bytes`, `1.5 MiB`. Exact numbers are for `count`. */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return unit === 0 ? counted(bytes, 'byte') : `${value.toFixed(1)} ${UNITS[unit]}`;
}

/** A share of bytes, rounded down, so that only all of them are 100 %. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '0 %';
  return part === whole ? '100 %' : `${(Math.floor((part / whole) * 1000) / 10).toFixed(1)} %`;
}

/** A key id or digest short enough for a line: `sha256:0123456789ab…`. The JSON report has it in full. */
export function shortId(id: string): string {
  const body = /^(sha256:)([0-9a-f]{64})$/.exec(id);
  return body === null ? id : `${body[1]}${body[2]!.slice(0, 12)}…`;
}
