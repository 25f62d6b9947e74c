import type { Output } from '../../cli.ts';
import { columnsOf } from '../../../report/text-width.ts';

const TO_END_OF_LINE = '\u001B[K';
const TO_END_OF_SCREEN = '\u001B[J';

/** Lines at the foot of a terminal that are drawn over again and again, each time in one write. */
export class Painter {
  private readonly output: Output;
  private drawn: readonly string[] = [];

  constructor(output: Output) {
    this.output = output;
  }

  draw(lines: readonly string[]): void {
    this.write(`${up(this.rows)}${block(lines)}${TO_END_OF_SCREEN}`);
    this.drawn = lines;
  }

  /** Writes a line that stays above them. */
  above(line: string): void {
    this.write(`${up(this.rows)}${block([line, ...this.drawn])}${TO_END_OF_SCREEN}`);
  }

  // Line by line: a screen that is erased as a whole some terminals keep in their history.
  clear(): void {
    const { rows } = this;
    if (rows > 0) this.write(`${up(rows)}${block(Array<string>(rows).fill(''))}${up(rows)}`);
    this.drawn = [];
  }

  // A terminal that became narrower has broken what was drawn into more rows.
  private get rows(): number {
    const { columns } = this.output;
    return this.drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(columnsOf(line) / columns)), 0);
  }

  private write(text: string): void {
    void this.output.write(text);
  }
}

const block = (lines: readonly string[]): string =>
  lines.map((line) => `${line}${TO_END_OF_LINE}\n`).join('');

const up = (rows: number): string => (rows === 0 ? '' : `\r\u001B[${rows}A`);
