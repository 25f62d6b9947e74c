import type { Output } from '../cli.ts';
import { columnsOf } from './text-width.ts';

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
    this.write(`${this.toTop()}${block(lines)}${TO_END_OF_SCREEN}`);
    this.drawn = lines;
  }

  /** Writes a line that stays above them. */
  above(line: string): void {
    this.write(`${this.toTop()}${TO_END_OF_SCREEN}${line}\n${block(this.drawn)}`);
  }

  clear(): void {
    if (this.drawn.length > 0) this.write(`${this.toTop()}${TO_END_OF_SCREEN}`);
    this.drawn = [];
  }

  // A terminal that became narrower has broken what was drawn into more rows.
  private toTop(): string {
    const { columns } = this.output;
    const rows = this.drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(columnsOf(line) / columns)), 0);
    return rows === 0 ? '' : `\r\u001B[${rows}A`;
  }

  private write(text: string): void {
    void this.output.write(text);
  }
}

const block = (lines: readonly string[]): string =>
  lines.map((line) => `${line}${TO_END_OF_LINE}\n`).join('');
