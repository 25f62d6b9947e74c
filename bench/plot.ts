/** Draws an SVG picture with a bar for each contender of a race, whose length is its speed. */
import type { Outcome } from './results.ts';
import { figureText } from './results.ts';

const ROW = 30;
const BAR = 18;
const [LEFT, WIDTH, RIGHT] = [270, 380, 160];
const COLORS = { ours: '#1d6fb8', limit: '#8a8f98', other: '#c3cad3' } as const;

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The picture; a dashed line marks the target. */
export function plot({ race, measured }: Outcome): string {
  const yardstick = measured.find(({ name }) => name === race.yardstick);
  const targetSpeed = yardstick && race.target !== undefined ? yardstick.speed * race.target : undefined;
  const most = Math.max(...measured.map(({ highest }) => highest), targetSpeed ?? 0);
  const x = (speed: number): string => (LEFT + (speed / most) * WIDTH).toFixed(1);
  const bars = measured.map((each, at) => {
    const top = 8 + at * ROW;
    const middle = top + BAR / 2;
    const color = COLORS[at === 0 ? 'ours' : each.name === race.limit ? 'limit' : 'other'];
    const label = `y="${middle + 4}"${at === 0 ? ' font-weight="bold"' : ''}`;
    return `  <text x="${LEFT - 8}" ${label} text-anchor="end">${escape(each.name)}</text>
  <rect x="${LEFT}" y="${top}" width="${((each.speed / most) * WIDTH).toFixed(1)}" height="${BAR}" fill="${color}"/>
  <path d="M${x(each.lowest)} ${middle}H${x(each.highest)}" stroke="#333"/>
  <text x="${LEFT + WIDTH + 10}" ${label}>${escape(figureText(each))}</text>`;
  });
  const height = 8 + measured.length * ROW + 22;
  const target =
    targetSpeed === undefined
      ? []
      : [
          `  <path d="M${x(targetSpeed)} 2V${height - 20}" stroke="#c0392b" stroke-dasharray="4 3"/>`,
          `  <text x="${x(targetSpeed)}" y="${height - 6}" text-anchor="middle" fill="#c0392b">target</text>`,
        ];
  const total = LEFT + WIDTH + RIGHT;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${total} ${height}" width="${total}" height="${height}" font-family="sans-serif" font-size="13">
  <title>${escape(race.title.replaceAll('`', ''))}: speed, more is better</title>
  <rect width="100%" height="100%" fill="#fff"/>
${[...bars, ...target].join('\n')}
</svg>
`;
}
