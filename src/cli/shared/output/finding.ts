import { codeEntry } from '../../../codes/catalogue.ts';
import type { Finding } from '../../../verify/report.ts';
import { alignFacts } from './product.ts';

/** Formats a finding with what to do about it. A module of its own, because most commands need no catalogue of codes. */
export const formatFinding = ({ code, subject, path, message, expected, actual }: Finding): string =>
  alignFacts([
    [code, `${subject}${path === undefined || path === subject ? '' : ` ${path}`}: ${message}`],
    ['expected', expected],
    ['actual', actual],
    ['to do', codeEntry(code).action],
  ]);
