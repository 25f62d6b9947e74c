import { describe, expectTypeOf, it } from 'vitest';
import type * as z from 'zod';
import type { CodeClass, Severity } from '../../src/codes/index.ts';
import type {
  attestationReportSchema,
  bundleReportSchema,
  codeClassSchema,
  exportReportSchema,
  receiptsReportSchema,
  severitySchema,
  toolSourceReportSchema,
} from '../../src/verify/report-schema.ts';
import type {
  AttestationReport,
  BundleReport,
  ExportReport,
  ToolSourceReport,
} from '../../src/verify/report.ts';
import type { ReceiptsReport } from '../../src/verify/receipts/receipts.ts';

// Judged by the compiler: a member that one side lacks, or that may be absent on one side only, does not compile.
type Both<A, B> = [A] extends [B] ? ([B] extends [A] ? SameKeys<A, B> : false) : false;
type SameKeys<A, B> = [keyof A] extends [keyof B] ? ([keyof B] extends [keyof A] ? true : false) : false;
type Of<S extends z.ZodType> = z.infer<S>;

describe('the schemas of reports', () => {
  it('are the types of reports, in both directions', () => {
    expectTypeOf<Both<Of<typeof attestationReportSchema>, AttestationReport>>().toEqualTypeOf<true>();
    expectTypeOf<Both<Of<typeof bundleReportSchema>, BundleReport>>().toEqualTypeOf<true>();
    expectTypeOf<Both<Of<typeof exportReportSchema>, ExportReport>>().toEqualTypeOf<true>();
    expectTypeOf<Both<Of<typeof toolSourceReportSchema>, ToolSourceReport>>().toEqualTypeOf<true>();
    expectTypeOf<Both<Of<typeof receiptsReportSchema>, ReceiptsReport>>().toEqualTypeOf<true>();
  });

  it('know every class and severity of the catalogue', () => {
    expectTypeOf<Of<typeof codeClassSchema>>().toEqualTypeOf<CodeClass>();
    expectTypeOf<Of<typeof severitySchema>>().toEqualTypeOf<Severity>();
  });
});
