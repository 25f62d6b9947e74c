/**
 * What a terminal shows after it was sent a text: its lines without blanks at the end, from the first that was written
 * to the last that is not empty. It knows what the progress uses (line feed, carriage return, cursor up, erase to the end
 * of line and screen), wraps what is too wide, and throws on everything else.
 */
export function terminal(sent: string, { columns }: { readonly columns: number }): readonly string[] {
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
    if (i > 0 && kind === undefined) throw new Error('a sequence that is not known');
    if (kind === 'A') row = Math.max(0, row - Number(times));
    if (kind === 'K') erase();
    if (kind === 'J') {
      rows.length = row + 1;
      erase();
    }
    for (const character of piece.slice(i > 0 ? sequence.length : 0)) write(character);
  }
  const lines = rows.map((one) =>
    Array.from(one, (cell?: string) => cell ?? ' ')
      .join('')
      .trimEnd(),
  );
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}
