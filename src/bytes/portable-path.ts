import { toUtf8 } from './text/encoding.ts';

const MAX_PATH_BYTES = 1024;
// Windows opens the device even with an extension, or spaces before the extension.
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\..*)?$/i;
const CONTROL = /\p{Cc}/u;
const ASCII = /^[\x20-\x7e]*$/;

const SEGMENT_RULES: readonly (readonly [(segment: string) => boolean, string])[] = [
  [(segment) => segment === '', 'it has an empty segment'],
  [(segment) => segment === '.' || segment === '..', 'it has a "." or ".." segment'],
  [(segment) => /[. ]$/.test(segment), 'a segment ends with a dot or a space'],
  [(segment) => DEVICE_NAME.test(segment), 'a segment is a Windows device name'],
];

const PATH_RULES: readonly (readonly [(path: string) => boolean, string])[] = [
  [(path) => !path.isWellFormed(), 'it holds a lone surrogate'],
  [(path) => path.startsWith('/'), 'it is absolute'],
  [(path) => path.includes('\\'), 'it holds a backslash'],
  [(path) => path.includes(':'), 'it holds a colon'],
  [(path) => CONTROL.test(path), 'it holds a control character'],
  [(path) => path.normalize('NFC') !== path, 'it is not in Unicode normalization form C'],
  [(path) => toUtf8(path).length > MAX_PATH_BYTES, `it has more than ${MAX_PATH_BYTES} bytes`],
];

/**
 * Nearly every path: segments of ASCII letters, digits, `_` and `-`, with single dots between them, that do not begin with
 * a device name. Such a path can only break the rule of length, and each character is a byte.
 */
const PLAIN = /^(?:(?!(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?![\w-]))[\w-]+(?:\.[\w-]+)*(?:\/(?!$)|$))+$/i;

/** The reason why a path is not safe on every file system (formats §1, Paths), or `undefined`. */
export function findPathProblem(path: string): string | undefined {
  if (path.length <= MAX_PATH_BYTES && PLAIN.test(path)) return undefined;
  return findBrokenRule(path);
}

/** The first rule that a path breaks; `findPathProblem` without its shortcut. */
export function findBrokenRule(path: string): string | undefined {
  for (const [broken, why] of PATH_RULES) if (broken(path)) return why;
  for (const segment of path.split('/')) {
    for (const [broken, why] of SEGMENT_RULES) if (broken(segment)) return why;
  }
  return undefined;
}

const foldOnce = (path: string): string => path.toUpperCase().toLowerCase();

/**
 * The form of a path on a file system that folds case. All paths of a tree must have different forms. The second round is
 * for the capital sharp s, whose small letter becomes "ss".
 */
export function foldPath(path: string): string {
  if (ASCII.test(path)) return path.toLowerCase();
  return foldOnce(foldOnce(path)).normalize('NFC');
}
