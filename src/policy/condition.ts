/** This text exactly, or any text that matches the pattern. */
export type Condition = string | { readonly pattern: string };

/** In a pattern `*` matches any characters, also none; nothing else is special. */
export const fulfils = (text: string, condition: Condition): boolean =>
  typeof condition === 'string' ? text === condition : matchesPattern(text, condition.pattern);

export const fulfilsAny = (text: string, conditions: readonly Condition[]): boolean =>
  conditions.some((condition) => fulfils(text, condition));

export const formatCondition = (condition: Condition): string =>
  typeof condition === 'string' ? condition : `like ${condition.pattern}`;

// Each piece is searched once, after the previous one: no pattern causes backtracking.
function matchesPattern(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of rest) {
    const index = text.indexOf(piece, at);
    if (index < 0) return false;
    at = index + piece.length;
  }
  return at <= end;
}
