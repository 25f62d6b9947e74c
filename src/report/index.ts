export { decisionRenderers } from './decision/renderers.ts';
export { renderJson, stableJson } from './json.ts';
export { printable } from './printable.ts';
export { renderers, type ReportFormat } from './renderers.ts';
export { renderText } from './text/text.ts';
