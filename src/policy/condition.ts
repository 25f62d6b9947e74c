/** What a text has to be: this text exactly, or one that a pattern fits. */
export type Condition = string | { readonly pattern: string };

/** Whether a text fulfils a condition. In a pattern `*` stands for any characters, none included; nothing else is special. */
export const fulfils = (text: string, condition: Condition): boolean =>
  typeof condition === 'string' ? text === condition : fits(text, condition.pattern);

export const fulfilsAny = (text: string, conditions: readonly Condition[]): boolean =>
  conditions.some((condition) => fulfils(text, condition));

/** A condition as people read it. */
export const conditionWords = (condition: Condition): string =>
  typeof condition === 'string' ? condition : `like ${condition.pattern}`;

// Each piece is looked for once, behind the one before, so that no pattern makes it go back.
function fits(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= end;
}
