import { packageError } from '../../node/fs-errors.ts';
import type { Chart, DrawChart } from '../../report/html/pages/history.ts';

type Echarts = typeof import('echarts');

const WIDTH = 720;
const HEIGHT = 300;

const THEMES = {
  light: {
    text: '#1b1f24',
    line: '#d0d7de',
    good: '#116329',
    open: '#b07800',
    bad: '#a40e26',
    idle: '#545d68',
  },
  dark: {
    text: '#e6edf3',
    line: '#3a424c',
    good: '#56d364',
    open: '#e3b341',
    bad: '#ff8d85',
    idle: '#9aa4af',
  },
} as const;
type Theme = (typeof THEMES)[keyof typeof THEMES];

/**
 * Loads what draws a chart as SVG for each color scheme, with trusted text only.
 * @throws DrillproofError `io.PACKAGE_MISSING`
 */
export async function loadCharts(): Promise<DrawChart> {
  const echarts = await loadEcharts();
  return (chart) => ({
    light: drawSvg(echarts, chart, THEMES.light),
    dark: drawSvg(echarts, chart, THEMES.dark),
  });
}

async function loadEcharts(): Promise<Echarts> {
  try {
    return await import('echarts'); // inside `try`, so that bundlers accept that it is not installed
  } catch (cause) {
    throw packageError(cause, 'a page about many reports', 'echarts');
  }
}

function drawSvg(echarts: Echarts, { kind, labels, series }: Chart, theme: Theme): string {
  const canvas = echarts.init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT });
  const axis = { axisLabel: { color: theme.text }, axisLine: { lineStyle: { color: theme.line } } };
  canvas.setOption({
    animation: false,
    textStyle: { fontFamily: 'system-ui, sans-serif' },
    legend: { top: 4, itemGap: 28, textStyle: { color: theme.text } },
    grid: { left: 56, right: 16, top: 44, bottom: 32 },
    xAxis: { type: 'category', data: [...labels], ...axis },
    yAxis: {
      type: 'value',
      ...(kind === 'bars' && { minInterval: 1 }),
      splitLine: { lineStyle: { color: theme.line } },
      ...axis,
    },
    series: series.map(({ name, tone, values }) => ({
      type: kind === 'bars' ? ('bar' as const) : ('line' as const),
      name,
      data: [...values],
      color: theme[tone],
      ...(kind === 'bars' ? { stack: 'all', barMaxWidth: 40 } : { symbolSize: 7 }),
    })),
  });
  const svg = canvas.renderToSVGString();
  canvas.dispose();
  return svg;
}
