import type { Finding } from '../report.ts';
import { finding } from '../finding.ts';

/** Each field of the signed subject of an export that differs from what is here; `path` is where the subject stands. */
export const exportSubjectFindings = (
  about: string,
  path: string,
  signed: Readonly<Record<string, string>>,
  actual: Readonly<Record<string, string | undefined>>,
): Finding[] =>
  Object.entries(actual)
    .filter(([field, value]) => signed[field] !== value)
    .map(([field, value = 'absent']) => {
      const message = `the export attestation speaks of another ${field}`;
      const values = { expected: value, actual: signed[field] ?? 'absent' };
      return finding('export.ATTESTATION_SUBJECT_MISMATCH', about, {
        path: `${path}/${field}`,
        message,
        ...values,
      });
    });
