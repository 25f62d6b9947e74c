/**
 * The lines of a terminal after this text, without trailing blanks and empty lines. It supports the sequences of the
 * progress, wraps long lines, and throws for every other sequence.
 */
export function renderTerminal(sent: string, { columns }: { readonly columns: number }): readonly string[] {
  const rows: string[][] = [[]];
  let [row, column] = [0, 0];
  const at = (index: number): string[] => (rows[index] ??= []);
  const write = (character: string): void => {
    if (character === '\n') at(++row);
    if (character === '\n' || character === '\r') {
      column = 0;
      return;
    }
    if (column === columns) [row, column] = [row + 1, 0];
    at(row)[column++] = character;
  };
  const erase = (): void => void (at(row).length = Math.min(at(row).length, column));
  for (const [i, piece] of sent.split('\u001B').entries()) {
    const [sequence = '', times, kind] = /^\[(\d*)([AKJ])/.exec(piece) ?? [];
    if (i > 0 && kind === undefined) throw new Error('an unknown sequence');
    if (kind === 'A') row = Math.max(0, row - Number(times));
    if (kind === 'K') erase();
    if (kind === 'J') {
      rows.length = row + 1;
      erase();
    }
    for (const character of piece.slice(i > 0 ? sequence.length : 0)) write(character);
  }
  const lines = rows.map((cells) =>
    Array.from(cells, (cell?: string) => cell ?? ' ')
      .join('')
      .trimEnd(),
  );
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}
