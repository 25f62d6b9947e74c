export { decisionRenderers, type DecisionFormat, type DecisionRenderer } from './decision/renderers.ts';
export { renderJson, stableJson } from './json.ts';
export { printable } from './printable.ts';
export { renderers, type Renderer, type ReportFormat } from './renderers.ts';
export { renderText, type TextOptions } from './text/text.ts';
