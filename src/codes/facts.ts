import { CLASSES } from './classes.ts';
import type { Code } from './catalogue.ts';
import type { CodeClass, Severity } from './entry.ts';

/** What a program needs to know of a code, without the texts of the catalogue, which are large. */
export type CodeFacts = { readonly class: CodeClass; readonly severity: Severity };

const facts = new Map<string, CodeFacts>();

function factsOf(code: string): CodeFacts | undefined {
  if (facts.size === 0)
    for (const [codeClass, severity, codes] of CLASSES)
      for (const name of codes.split(' ')) facts.set(name, { class: codeClass, severity });
  return facts.get(code);
}

/** Whether a string is a code of the catalogue. */
export const isCode = (value: string): value is Code => factsOf(value) !== undefined;

/** The class and the severity of a code. */
export const codeFacts = (code: Code): CodeFacts => factsOf(code)!;
