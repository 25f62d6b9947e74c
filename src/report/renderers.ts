import type { Report } from '../verify/index.ts';
import { renderJson } from './json.ts';
import { renderText, type TextOptions } from './text/text.ts';

export type Renderer = (report: Report, options?: TextOptions) => string;

/** Every format of a report by the name that people give it. */
export const renderers = {
  text: renderText,
  json: (report) => renderJson(report),
} as const satisfies Readonly<Record<string, Renderer>>;

export type ReportFormat = keyof typeof renderers;
