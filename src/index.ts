/**
 * drillproof: verify the evidence of drill runs. This entry is portable: it runs wherever there are Uint8Array, web
 * streams and ECMAScript modules. `drillproof/node` opens folders and files, `drillproof/client` talks to a control
 * plane, `drillproof/server` is one, and `drillproof/contract` is the interface between the two.
 */
export * from './bytes/index.ts';
export {
  catalogue,
  codeEntry,
  isCode,
  type Code,
  type CodeClass,
  type CodeEntry,
  type Severity,
} from './codes/index.ts';
export { DrillproofError, LimitError, TransportError, type ErrorContext } from './errors.ts';
export * from './evidence/index.ts';
export * from './policy/index.ts';
export * from './report/index.ts';
export * from './trust/index.ts';
export * from './verify/index.ts';
export {
  openZip,
  writeZip,
  zipLimits,
  type ZipArchive,
  type ZipEntry,
  type ZipInput,
  type ZipLimits,
  type ZipNote,
} from './zip/index.ts';
