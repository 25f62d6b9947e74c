import { pathTwin, portablePathProblem } from '../../bytes/index.ts';
import { DrillproofError } from '../../errors.ts';

/** @throws DrillproofError `zip.NAME_INVALID` for a name that is not a portable path (formats §1, Paths) */
export function assertSafeName(name: string): void {
  const problem = portablePathProblem(name);
  if (problem === undefined) return;
  throw new DrillproofError('zip.NAME_INVALID', `the name is not a safe path: ${problem}`, { path: name });
}

/** Returns a check to call with each name of an archive. It throws `zip.ENTRY_DUPLICATE` for a repeated name or its twin. */
export function distinctNames(): (name: string) => void {
  const seen = new Map<string, string>();
  return (name) => {
    const fold = pathTwin(name);
    const twin = seen.get(fold);
    if (twin !== undefined) {
      const message =
        twin === name
          ? 'two entries have this name'
          : 'a file system may take the name for that of another entry';
      throw new DrillproofError('zip.ENTRY_DUPLICATE', message, { path: name, details: { twin } });
    }
    seen.set(fold, name);
  };
}
