import type { Code } from './catalogue.ts';
import { OTHER_CLASSES, STATEMENT_CLASSES } from './classes.ts';
import type { CodeClass, Severity } from './entry.ts';

/** The facts of a code without its texts, which are large. */
export type CodeFacts = { readonly class: CodeClass; readonly severity: Severity };

type Lookup = (code: string) => CodeFacts | undefined;

function readOnce(...tables: readonly string[]): Lookup {
  const facts = new Map<string, CodeFacts>();
  return (code) => {
    if (facts.size === 0) for (const line of tables.join('').split('\n')) addLine(facts, line);
    return facts.get(code);
  };
}

function addLine(facts: Map<string, CodeFacts>, line: string): void {
  const [codeClass, severity, ...words] = line.split(' ');
  // The catalogue, from which the lines are written, has these types.
  const row = { class: codeClass as CodeClass, severity: severity as Severity };
  let namespace = '';
  for (const word of words)
    if (word.endsWith('.')) namespace = word;
    else facts.set(namespace + word, row);
}

const factsOf = /* @__PURE__ */ readOnce(STATEMENT_CLASSES, OTHER_CLASSES);
const statementFactsOf = /* @__PURE__ */ readOnce(STATEMENT_CLASSES);

/** Whether a string is a code of the catalogue. */
export const isCode = (value: string): value is Code => factsOf(value) !== undefined;

export const codeFacts = (code: Code): CodeFacts => factsOf(code)!;

/** A code of a signed statement or of its documents. Programs that verify nothing else need no other codes. */
export type StatementCode = Extract<
  Code,
  `${'encoding' | 'json' | 'trust' | 'attestation' | 'dsse' | 'timestamp'}.${string}`
>;

export const isStatementCode = (value: string): value is StatementCode =>
  statementFactsOf(value) !== undefined;

export const statementCodeFacts = (code: StatementCode): CodeFacts => statementFactsOf(code)!;
