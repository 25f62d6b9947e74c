import { beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/bytes/hash.ts';
import { DrillproofError } from '../../../src/errors.ts';
import {
  attestExportDsse,
  memorySource,
  parseExportAttestation,
  type EvidenceSource,
} from '../../../src/evidence/index.ts';
import { renderText } from '../../../src/report/index.ts';
import type { ReceiptFacts } from '../../../src/mirror/index.ts';
import { dsseBytes, trustStore, type TrustedKey } from '../../../src/trust/index.ts';
import { verifyExport, type ExportReport } from '../../../src/verify/index.ts';
import {
  EXPORT_ID,
  hashOf,
  ISSUER,
  makeExport,
  makeSigner,
  NOW,
  repacked,
  type MadeExport,
} from '../../support/evidence.ts';
import {
  appendReceipts,
  ARCHIVE,
  receiptEnvelopePath,
  receiptKey,
  type Files,
  type Wanted,
} from '../../support/receipts.ts';

const archive = makeSigner();
const signing = { signer: archive, issuer: ARCHIVE };
const RETIRED = NOW - 20_000;
let made: MadeExport;
beforeAll(async () => {
  made = await makeExport();
});

/** What a mirror of the export writes into its receipt. */
const facts = (patch: Partial<ReceiptFacts> = {}): Partial<ReceiptFacts> => ({
  evidenceExportId: EXPORT_ID,
  manifestDigest: made.packed.manifestDigest,
  files: Object.entries(made.files)
    .filter(([path]) => path.startsWith('parts/') || path === 'export-attestation.json')
    .map(([path, bytes]) => ({
      path,
      bytes: String(bytes.length),
      state: 'fetched' as const,
      ...(path === 'export-attestation.json' && { digest: digestOf(bytes) }),
    })),
  ...patch,
});

const evidenceKey = (rest: Partial<TrustedKey> = {}): TrustedKey => ({
  issuer: ISSUER,
  keyId: made.signer.keyId,
  point: made.signer.point,
  compromised: false,
  purposes: ['evidence', 'export'],
  ...rest,
});

type Choices = {
  readonly receipt?: Wanted;
  readonly evidence?: Partial<TrustedKey>;
  readonly archive?: Partial<TrustedKey>;
  readonly more?: readonly TrustedKey[];
  readonly edit?: (files: Files) => void;
};

async function judge(choices: Choices): Promise<ExportReport> {
  const files: Files = { ...made.files };
  await appendReceipts(files, [{ facts: facts(), finishedAtMs: RETIRED, signing, ...choices.receipt }]);
  choices.edit?.(files);
  const trust = trustStore([
    evidenceKey({ notAfterMs: RETIRED, ...choices.evidence }),
    receiptKey(archive, choices.archive),
    ...(choices.more ?? []),
  ]);
  return verifyExport(memorySource(files), { asOfMs: NOW, trust });
}

/** Where the time is only claimed: the list, and each part. */
const claims = (report: ExportReport): boolean[] =>
  [report, ...report.parts].map(({ findings }) =>
    findings.some(({ code }) => code === 'attestation.TIME_CLAIMED'),
  );
const ALL = [true, true, true];
const NONE = [false, false, false];
const codes = ({ findings }: ExportReport): string[] => findings.map(({ code }) => code);

describe('evidence by a key that is retired', () => {
  it('is no longer of a claimed time when a trusted receipt saw it in time', async () => {
    const report = await judge({});
    expect(claims(report)).toEqual(NONE);
    expect(report.verdict).toBe('verified');
    const seen = { atMs: RETIRED, issuer: ARCHIVE, keyId: archive.keyId };
    expect(report.firstSeen).toMatchObject(seen);
    expect(report.parts.map(({ firstSeen }) => firstSeen?.atMs)).toEqual([RETIRED, RETIRED]);
    expect(renderText(report)).toMatch(/first seen +\d{4}-.*by a receipt of acme-archive/);
  });

  it('is claimed without a receipt, and without a signature on it', async () => {
    expect(claims(await judge({ edit: dropReceipts(/^receipts\//) }))).toEqual(ALL);
    const unsigned = await judge({ edit: dropReceipts(/\.dsse$/) });
    expect(claims(unsigned)).toEqual(ALL);
    expect(unsigned.firstSeen).toBeUndefined();
  });

  it('may have been seen in the last millisecond of the key, and not in the one after', async () => {
    expect(claims(await judge({ receipt: { finishedAtMs: RETIRED } }))).toEqual(NONE);
    const late = await judge({ receipt: { finishedAtMs: RETIRED + 1 } });
    expect(claims(late)).toEqual(ALL);
    expect(late.firstSeen?.atMs).toBe(RETIRED + 1);
  });

  it('is bounded for the parts alone that the receipt saw, and for the list only with its digest', async () => {
    const [first] = facts().files!.filter(({ path }) => path.startsWith('parts/'));
    const report = await judge({ receipt: { facts: facts({ files: [first!] }) } });
    expect(claims(report)).toEqual([true, false, true]);
    const attestation = { path: 'export-attestation.json', bytes: '1', state: 'fetched' } as const;
    for (const digest of [undefined, hashOf('another')]) {
      const files = [{ ...attestation, ...(digest !== undefined && { digest }) }];
      expect(claims(await judge({ receipt: { facts: facts({ files }) } }))).toEqual(ALL);
    }
  });

  it('is not bounded by what stands in its place now', async () => {
    const report = await judge({
      edit: (files) => {
        const path = Object.keys(files).find((name) => name.startsWith('parts/'))!;
        files[path] = Uint8Array.from([...files[path]!, 0]);
      },
    });
    expect(report.parts[0]).toMatchObject({ verdict: 'failed' });
    expect(report.parts[0]).not.toHaveProperty('firstSeen');
  });
});

const dropReceipts =
  (which: RegExp) =>
  (files: Files): void => {
    for (const path of Object.keys(files)) if (which.test(path)) delete files[path];
  };

describe('evidence by a key that was revoked, and not compromised', () => {
  const evidence = { notAfterMs: NOW, revokedAtMs: RETIRED };
  it('is bounded by a receipt from before the revocation, and by none from its very moment', async () => {
    expect(claims(await judge({ evidence, receipt: { finishedAtMs: RETIRED - 1 } }))).toEqual(NONE);
    expect(claims(await judge({ evidence, receipt: { finishedAtMs: RETIRED } }))).toEqual(ALL);
  });

  it('is refused as ever when the key is compromised, whoever saw it', async () => {
    const report = await judge({
      evidence: { ...evidence, compromised: true },
      receipt: { finishedAtMs: 1 },
    });
    expect(report.verdict).toBe('failed');
    expect(report.parts[0]!.findings.map(({ code }) => code)).toContain('trust.KEY_REVOKED');
  });
});

describe('a receipt bounds no time', () => {
  it.each<readonly [string, () => Choices]>([
    ['by a key that is trusted for evidence only', () => ({ archive: { purposes: ['evidence'] } })],
    [
      'by a key that nobody trusts',
      () => ({ receipt: { signing: { signer: makeSigner(), issuer: ARCHIVE } } }),
    ],
    ['by a key that is revoked', () => ({ archive: { revokedAtMs: NOW + 1 } })],
    [
      'by a key that was revoked and not compromised',
      () => ({ archive: { revokedAtMs: NOW, compromised: false } }),
    ],
    ['by a key that is retired', () => ({ archive: { notAfterMs: NOW - 1 } })],
    ['by a key that did not speak yet', () => ({ archive: { notBeforeMs: RETIRED + 1 } })],
    [
      'of another manifest, however early',
      () => ({
        receipt: { facts: facts({ manifestDigest: hashOf('another') }), finishedAtMs: 1 },
      }),
    ],
    [
      'that an untrusted key dated back',
      () => ({
        receipt: { signing: { signer: makeSigner(), issuer: ARCHIVE }, finishedAtMs: 1 },
      }),
    ],
    [
      'for another project than its key may speak for',
      () => ({ archive: { projects: ['prj_000000000009'] } }),
    ],
  ])('%s', async (_, choices) => {
    const report = await judge(choices());
    expect(claims(report)).toEqual(ALL);
    expect(report.firstSeen).toBeUndefined();
    expect(report.verdict).toBe('verified');
  });

  it('by the very key whose time it would bound, under whatever name', async () => {
    const report = await judge({
      receipt: { signing: { signer: made.signer, issuer: ARCHIVE } },
      more: [receiptKey(made.signer)],
    });
    expect(claims(report)).toEqual(ALL);
  });

  it('and says why, once for each reason', async () => {
    const report = await judge({ archive: { notAfterMs: NOW - 1 } });
    expect(codes(report).filter((code) => code === 'receipt.UNCOUNTED')).toHaveLength(1);
  });

  it('when its envelope signs other bytes', async () => {
    const report = await judge({
      edit: (files) => {
        const path = Object.keys(files).find(
          (name) => name.startsWith('receipts/') && name.endsWith('.json'),
        )!;
        files['receipts/copy.json'] = files[path]!.map((byte, i) =>
          i === files[path]!.length - 2 ? byte ^ 1 : byte,
        );
        files['receipts/copy.json.dsse'] = files[receiptEnvelopePath(path)]!;
        delete files[path];
      },
    });
    expect(claims(report)).toEqual(ALL);
  });
});

const by = (signer: typeof archive, finishedAtMs: number): Wanted => ({
  signing: { signer, issuer: ARCHIVE },
  finishedAtMs,
});
const moments = (report: ExportReport) =>
  [report, ...report.parts].map(({ firstSeen }) => [firstSeen?.atMs, firstSeen?.keyId]);

describe('several receipts', () => {
  const other = makeSigner();
  const judged = async (wanted: readonly Wanted[], evidence: Partial<TrustedKey> = {}) => {
    const files: Files = { ...made.files };
    await appendReceipts(
      files,
      wanted.map((one) => ({ facts: facts(), signing, ...one })),
    );
    const trust = trustStore([
      evidenceKey({ notAfterMs: RETIRED, ...evidence }),
      receiptKey(archive),
      receiptKey(other),
      receiptKey(made.signer),
    ]);
    return verifyExport(memorySource(files), { asOfMs: NOW, trust });
  };
  it('bound by the earliest, of one key and of several', async () => {
    for (const wanted of [
      [by(archive, RETIRED), by(archive, RETIRED + 1)],
      [by(archive, RETIRED), by(other, RETIRED + 1)],
    ]) {
      const report = await judged(wanted);
      expect(claims(report)).toEqual(NONE);
      expect(moments(report)).toEqual(Array.from({ length: 3 }, () => [RETIRED, archive.keyId]));
    }
  });

  it('bound when one of them is of another key, though an earlier one is by the key itself', async () => {
    const report = await judged([by(made.signer, RETIRED - 1), by(archive, RETIRED)]);
    expect(claims(report)).toEqual(NONE);
    expect(moments(report)[0]).toEqual([RETIRED - 1, made.signer.keyId]);
  });
});

const retiredTrust = () => trustStore([evidenceKey({ notAfterMs: RETIRED }), receiptKey(archive)]);
const written = async (files: Files): Promise<Files> => {
  await appendReceipts(files, [{ facts: facts(), finishedAtMs: RETIRED, signing }]);
  return files;
};

describe('a receipt that counts', () => {
  it('leaves every other finding on the list and on a part', async () => {
    const files = await written({ ...made.files });
    const report = await verifyExport(memorySource(files), {
      asOfMs: NOW,
      trust: retiredTrust(),
      expect: { evidenceExportId: 'evexp_000000000009', projectId: 'prj_000000000009' },
    });
    expect(report.firstSeen?.atMs).toBe(RETIRED);
    expect(codes(report)).toContain('expect.EXPORT_MISMATCH');
    for (const { findings, firstSeen } of report.parts)
      expect([firstSeen?.atMs, findings.map(({ code }) => code)]).toEqual([
        RETIRED,
        ['expect.PROJECT_MISMATCH'],
      ]);
  });

  it('does not speak of a part that was packed anew, though all in it is sound', async () => {
    const files = await written({ ...made.files });
    const path = 'parts/evidence_000000000001.zip';
    const again = await repacked(files[path]!, () => undefined);
    const report = await verifyExport(memorySource({ ...files, [path]: again }), {
      asOfMs: NOW,
      trust: retiredTrust(),
    });
    expect(report.parts[0]).not.toHaveProperty('firstSeen');
    expect(claims(report)).toEqual([false, true, false]);
  });

  it('does not speak of an envelope beside the list, whose bytes it does not name', async () => {
    const { statement } = parseExportAttestation(made.files['export-attestation.json']!);
    const dsse = dsseBytes(await attestExportDsse(statement, [made.signer]));
    const files = await written({ ...made.files });
    const report = await verifyExport(memorySource(files), { asOfMs: NOW, trust: retiredTrust(), dsse });
    const claimed = report.findings.filter(({ code }) => code === 'attestation.TIME_CLAIMED');
    expect(claimed.map(({ path }) => path?.startsWith('dsse'))).toEqual([true]);
  });

  it('has seen the attestation under its own name', async () => {
    const digest = digestOf(made.files['export-attestation.json']!);
    const file = { path: 'parts/other.zip', bytes: '1', state: 'fetched', digest } as const;
    expect(claims(await judge({ receipt: { facts: facts({ files: [file] }) } }))).toEqual(ALL);
  });
});

it('an attestation that is gone by the time its digest is asked stays of a claimed time', async () => {
  const whole = memorySource(await written({ ...made.files }));
  let opened = 0;
  const open = (path: string) =>
    path === 'export-attestation.json' && ++opened > 1
      ? Promise.reject(new DrillproofError('io.UNREADABLE', 'no'))
      : whole.open(path);
  const report = await verifyExport({ ...whole, open }, { asOfMs: NOW, trust: retiredTrust() });
  expect(opened).toBe(2);
  expect(claims(report)).toEqual([true, false, false]);
});

it('a receipt that cannot be read is not counted, and that is said', async () => {
  const files = await written({});
  const elsewhere: EvidenceSource = {
    ...memorySource(files),
    open: () => Promise.reject(new DrillproofError('io.UNREADABLE', 'no')),
  };
  const report = await verifyExport(memorySource(made.files), {
    asOfMs: NOW,
    trust: retiredTrust(),
    receipts: [elsewhere],
  });
  expect(claims(report)).toEqual(ALL);
  expect(codes(report)).toContain('receipt.UNCOUNTED');
});

describe('receipts from elsewhere', () => {
  it('count as the earliest that they are, by the key of those in the export and by another', async () => {
    const other = makeSigner();
    for (const witness of [archive, other]) {
      const [files, elsewhere]: Files[] = [{ ...made.files }, {}];
      await appendReceipts(files!, [{ facts: facts(), ...by(archive, RETIRED + 1) }]);
      await appendReceipts(elsewhere!, [{ facts: facts(), ...by(witness, RETIRED) }]);
      const report = await verifyExport(memorySource(files!), {
        asOfMs: NOW,
        trust: trustStore([evidenceKey({ notAfterMs: RETIRED }), receiptKey(archive), receiptKey(other)]),
        receipts: [memorySource(elsewhere!)],
      });
      expect(claims(report)).toEqual(NONE);
      expect(moments(report)).toEqual(Array.from({ length: 3 }, () => [RETIRED, witness.keyId]));
    }
  });

  it('count as those in the export do', async () => {
    const elsewhere: Files = {};
    await appendReceipts(elsewhere, [{ facts: facts(), finishedAtMs: RETIRED, signing }]);
    const trust = trustStore([evidenceKey({ notAfterMs: RETIRED }), receiptKey(archive)]);
    const options = { asOfMs: NOW, trust };
    const alone = await verifyExport(memorySource(made.files), options);
    expect(claims(alone)).toEqual(ALL);
    const report = await verifyExport(memorySource(made.files), {
      ...options,
      receipts: [memorySource(elsewhere)],
    });
    expect(claims(report)).toEqual(NONE);
  });
});
