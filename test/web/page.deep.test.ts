import { execFileSync } from 'node:child_process';
import { appendFile, cp, open as openFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import axe from 'axe-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestOf } from '../../src/bytes/hash.ts';
import { canonicalJson } from '../../src/bytes/json/canonical.ts';
import { packBundle } from '../../src/evidence/bundle/pack-bundle.ts';
import { publicKeyPem } from '../../src/trust/key/key.ts';
import { trustStoreJwks } from '../../src/trust/store.ts';
import { call } from '../cli/make.ts';
import { bagOf } from '../support/bag.ts';
import {
  EXPORT_ID,
  flipBit,
  idOf,
  ISSUER,
  makeBundleInput,
  makeExport,
  makeObject,
  makePart,
  makeSigning,
  makeTrust,
  NOW,
  pack,
} from '../support/evidence.ts';
import { type Browser, BROWSERS } from './browsers.ts';
import { FILE_URL, openPage, PAGE, readPage, servePage, type VerifyPage } from './page.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import type { Run } from '../../src/verify/report.ts';

const home = process.cwd();
const OLD = join(home, 'test/old');
const at = (name: string): string => join(dir, name);
const PART = 'parts/evidence_000000000001.zip';

const listFiles = async (root: string): Promise<string[]> =>
  (await readdir(at(root), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();

/** The JSON that a command prints as of a time. */
const runJson = async (args: readonly string[], asOfMs = NOW): Promise<string> =>
  (await call([...args, '--as-of', new Date(asOfMs).toISOString(), '--json'])).stdout;
const TRUST = ['--trust', 'trust.json'];

/** Writes a sparse part of 2 GiB: 32 objects of 64 MiB of zeros. */
async function writeSparsePart(path: string): Promise<void> {
  const zeros = Buffer.alloc(2 ** 20);
  const open = async function* () {
    for (let n = 0; n < 64; n++) yield zeros;
  };
  const input = makeBundleInput(1);
  const objects = Array.from({ length: 32 }, (_, n) => ({ ...makeObject(`zeros/${n + 10}.bin`, ''), open }));
  const packed = await packBundle({ ...input, objects: [...input.objects, ...objects] }, makeSigning(signer));
  const file = await openFile(path, 'w');
  let size = 0;
  for await (const chunk of packed.archive({ compression: 'store' })) {
    if (!zeros.subarray(0, chunk.length).equals(chunk)) await file.write(chunk, 0, chunk.length, size);
    size += chunk.length;
  }
  await file.truncate(size);
  await file.close();
}

const LATER = NOW + 366 * 24 * 3600 * 1000;
/** A trust store with its issuer and fingerprint, and a key whose issuer the user enters. */
const KEY_LIST =
  /^trust\.json\s+trust store\s+Remove\s+\S+\s+sha256:[0-9a-f]{64}\s+Copy\s+key\.pem[^]*\n\s*sha256:[0-9a-f]{64}\s+Copy\s*$/;

/** Writes two reports in a chain, and the trust store of the auditor who signed them. */
async function signReports(): Promise<void> {
  await call(['keys', 'generate', '--out', 'auditor.pem']);
  const purpose = ['--issuer', 'auditor', '--purpose', 'report'];
  await call(['keys', 'add', 'auditor.pub.pem', ...purpose, '--trust', 'auditors.json']);
  const sign = ['verify', 'export', ...TRUST, '--sign', 'auditor.pem', '--issuer', 'auditor', '--quiet'];
  await call([...sign, '--format', 'json=1.dsse.json']);
  await call([...sign, '--format', 'json=2.dsse.json', '--previous', '1.dsse.json']);
}

/** Writes envelopes about the list of the export, about one of its parts, and about a part of another export. */
async function signEnvelopes(): Promise<void> {
  await writeFiles('.', { 'other.zip': (await makePart(9)).bytes });
  await call(['keys', 'generate', '--out', 'qa.pem']);
  await call(['keys', 'add', 'qa.pub.pem', '--issuer', 'qa', '--trust', 'qa.json']);
  const subjects = { list: 'export', part: `export/${PART}`, other: 'other.zip' };
  for (const [name, path] of Object.entries(subjects))
    await call(['dsse', 'create', path, '--key', 'qa.pem', '--issuer', 'qa', '--out', `${name}.dsse.json`], {
      now: () => NOW,
    });
}

const dir = await makeFolder();
process.chdir(dir);
const { files, signer } = await makeExport({ parts: 3 });
const damaged = { ...files, [PART]: flipBit(files[PART]!, 100) };
await Promise.all([
  writeFiles('export', files),
  writeFiles('damaged', damaged),
  writeFiles('bag', bagOf(files)),
  writeFiles('.', {
    'trust.json': Buffer.from(canonicalJson(trustStoreJwks(makeTrust(signer)))),
    'dated.json': canonicalJson(
      trustStoreJwks(makeTrust(signer, { notBeforeMs: NOW - 1, notAfterMs: NOW + 1 })),
    ),
    'wrong.json': Buffer.from('{"keys":[{"issuer":"i"}]}'),
    'key.pem': Buffer.from(publicKeyPem(signer.point)),
    'part.zip': files[PART]!,
    'damaged.zip': damaged[PART],
    'export.zip': await pack(Object.entries(files)),
    'damaged-export.zip': await pack(Object.entries(damaged)),
  }),
]);
await writeFile('saved.report.json', await runJson(['verify', 'part.zip', ...TRUST]));
await signReports();
await signEnvelopes();
await writeSparsePart(at('large.zip'));
const server = await servePage();
const url = `http://localhost:${server.port}/verify`;
afterAll(async () => {
  server.close();
  process.chdir(home);
});

const LOOK =
  "({ hidden: document.querySelector('#result').hidden, title: document.title, text: document.querySelector('#report').innerText })";
const VERIFIED_PART = `verified: ${idOf('evidence', 1)}, as of ${new Date(NOW).toISOString()}`;
const NOTHING = { hidden: true, title: 'Verify evidence - drillproof', text: '' };
const setField = (id: string, value: string): string =>
  `void (document.querySelector('${id}').value = ${JSON.stringify(value)}, document.querySelector('${id}').dispatchEvent(new Event('input', { bubbles: true })))`;

describe.each(Object.entries(BROWSERS))('%s', (name, start) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await start();
  });
  afterAll(() => browser.close());

  test.each([
    ['export', 'VERIFIED'],
    ['damaged', 'FAILED'],
    ['bag', 'VERIFIED'],
  ])(
    'the page verifies the folder %s from file:// as the command does, without a request',
    async (root, verdict) => {
      await using page = await openPage(browser);
      await page.chooseFolder(await listFiles(root), at(root));
      await page.choose('#keys-input', [at('trust.json')]);
      expect(await page.verify(NOW)).toContain(verdict);
      expect(await page.saveReport()).toBe(await runJson(['verify', root, ...TRUST]));
      expect(
        page.requests.filter((address) => !/^(?:blob:|data:|file:.*drillproof\.html$)/.test(address)),
      ).toEqual([]);
    },
  );

  test.each([
    ['export.zip', 'VERIFIED'],
    ['damaged-export.zip', 'FAILED'],
    ['part.zip', 'VERIFIED'],
    ['damaged.zip', 'FAILED'],
  ])(
    'the page verifies the file %s that was dropped on http:// as the command does',
    async (file, verdict) => {
      await using page = await openPage(browser, url);
      await page.drop('#evidence-drop', '#file', [at(file)]);
      await page.drop('#keys-drop', '#keys-input', [at('trust.json')]);
      expect(await page.verify(NOW)).toContain(verdict);
      expect(await page.saveReport()).toBe(await runJson(['verify', file, ...TRUST]));
      expect(page.requests.filter((address) => !/^(?:blob|data):/.test(address) && address !== url)).toEqual(
        [],
      );
    },
  );

  test('the page marks the first broken link of a damaged export and claims nothing that depends on it', async () => {
    await using page = await openPage(browser);
    await page.chooseFolder(await listFiles('damaged'), at('damaged'));
    await page.choose('#keys-input', [at('trust.json')]);
    await page.verify(NOW);
    expect(
      await page.evaluate(
        "[...document.querySelectorAll('.chain li')].map((item) => item.querySelector('.state').innerText + (item.matches('.first') ? ' first' : ''))",
      ),
    ).toEqual(['holds', 'holds', 'does not hold first', ...Array<string>(5).fill('could not tell'), 'holds']);
  });

  test('the page takes a public key with its issuer, and asks for the issuer if it is missing', async () => {
    await using page = await openPage(browser);
    expect(await page.verify(NOW)).toContain('Choose the evidence first');
    await page.choose('#file', [at('part.zip')]);
    await page.choose('#keys-input', [at('key.pem')]);
    expect(await page.verify(NOW)).toContain('Enter the issuer of key.pem');
    await page.enterIssuer(ISSUER);
    expect(await page.verify(NOW)).toContain('VERIFIED');
    expect(await page.saveReport()).toBe(
      await runJson(['verify', 'part.zip', '--key', `key.pem,issuer=${ISSUER}`]),
    );
  });

  test('the page shows a wrong issuer next to the one of the evidence, and marks a letter that looks like another', async () => {
    await using page = await openPage(browser);
    await page.choose('#file', [at('part.zip')]);
    await page.choose('#keys-input', [at('key.pem')]);
    const issuer = ISSUER.replace('e', '\u0435');
    await page.enterIssuer(issuer);
    const text = await page.verify(NOW);
    expect(text).toContain('trust.KEY_UNKNOWN');
    expect(text).toContain(`of issuer "${issuer}"`);
    expect(text).toContain(`of issuer "${ISSUER}"`);
    expect(text).toContain('only the expected name has U+0435');
  });

  test('the page verifies a chain of signed reports, and finds the gap in it', async () => {
    await using page = await openPage(browser);
    await page.choose('#file', [at('2.dsse.json'), at('1.dsse.json')]);
    await page.choose('#keys-input', [at('auditors.json')]);
    expect(await page.verify(LATER)).toMatch(/^Chain of signed reports[^]*Trusted keys signed every report/);
    const verify = ['report', 'verify', '1.dsse.json', '2.dsse.json', '--trust', 'auditors.json'];
    expect(await page.saveReport()).toBe(await runJson(verify, LATER));
    await page.choose('#file', [at('2.dsse.json')]);
    expect(await page.verify(LATER)).toContain('report.PREVIOUS_MISSING');
  });

  test.each<[string, (page: VerifyPage) => Promise<unknown>]>([
    ['other evidence', (page) => page.choose('#file', [at('damaged.zip')])],
    ['other evidence that is dropped', (page) => page.drop('#evidence-drop', '#file', [at('damaged.zip')])],
    ['one more key', (page) => page.choose('#keys-input', [at('qa.json')])],
    ['no key', (page) => page.evaluate("void document.querySelector('#key-list button').click()")],
    ['another time', (page) => page.evaluate(setField('#as-of', '2020-01-01'))],
    ['a digest', (page) => page.evaluate(setField('#digest', '0'))],
    ['an envelope', (page) => page.choose('#envelopes', [at('part.dsse.json')])],
  ])('the page removes a result, its title and its buttons for %s', async (_what, change) => {
    await using page = await openPage(browser);
    await page.choose('#file', [at('part.zip')]);
    await page.choose('#keys-input', [at('trust.json')]);
    expect(await page.verify(NOW)).toContain('VERIFIED');
    const title = `${VERIFIED_PART} - drillproof`;
    expect(await page.evaluate(LOOK)).toMatchObject({ hidden: false, title });
    await change(page);
    await expect.poll(() => page.evaluate(LOOK)).toEqual(NOTHING);
  });

  test('the page has the title of no result after an error in the options', async () => {
    await using page = await openPage(browser);
    await page.choose('#file', [at('part.zip')]);
    await page.verify(NOW);
    await page.evaluate(
      "void (document.querySelector('#as-of').value = '2026-02-31', document.querySelector('#verify').click())",
    );
    await expect.poll(() => page.text('#message')).toContain('The time "2026-02-31" is invalid');
    expect(await page.evaluate(LOOK)).toEqual(NOTHING);
  });

  const digest = digestOf(files['manifest.json']!);
  test.each([
    ['2026-11-24', ''],
    ['1795521600000', ''],
    ['', digest],
    ['', digest.slice('sha256:'.length).toUpperCase()],
  ])('the page takes the time "%s" and the digest "%s" as the command does', async (asOf, pin) => {
    await using page = await openPage(browser);
    await page.choose('#file', [at('export.zip')]);
    await page.evaluate(setField('#digest', pin));
    await page.verify(asOf === '' ? NOW : asOf);
    const args = pin === '' ? [] : ['--expect-manifest', pin];
    const run = await call([
      'verify',
      'export.zip',
      ...args,
      '--as-of',
      asOf === '' ? String(NOW) : asOf,
      '--json',
    ]);
    expect(await page.saveReport()).toBe(run.stdout);
  });

  test.each([
    ['#file', 'trust.json', 'trust.json is a trust store or a set of keys, not evidence'],
    ['#file', 'key.pem', 'key.pem is a key, not evidence'],
    ['#keys-input', 'part.zip', 'part.zip is a ZIP archive, not a key'],
    ['#keys-input', 'saved.report.json', 'saved.report.json is a report of drillproof, not a key'],
  ])('the page names the kind of what was chosen in %s: %s', async (field, file, message) => {
    await using page = await openPage(browser);
    await page.choose(field, [at(file)]);
    if (field === '#file') await page.verify(NOW);
    await expect.poll(() => page.text('#message')).toContain(message);
  });

  test('the page shows each key before a verification, and lists a file that is chosen twice once', async () => {
    await using page = await openPage(browser);
    for (let times = 0; times < 2; times++) await page.choose('#keys-input', [at('trust.json')]);
    await page.choose('#keys-input', [at('key.pem')]);
    await expect.poll(() => page.text('#key-list')).toMatch(KEY_LIST);
    await page.evaluate("void document.querySelectorAll('#key-list [aria-label^=Remove]')[1].click()");
    await page.choose('#file', [at('part.zip')]);
    expect(await page.verify(NOW)).toContain('VERIFIED');
  });

  test('the page shows the validity of a key as times', async () => {
    await using page = await openPage(browser);
    await page.choose('#keys-input', [at('dated.json')]);
    const read = "[...document.querySelectorAll('#key-list time')].map((time) => time.dateTime)";
    await expect
      .poll(() => page.evaluate(read))
      .toEqual([NOW - 1, NOW + 1].map((ms) => new Date(ms).toISOString()));
  });

  test('the page lists a trust store that is not valid with the reason, and verifies nothing with it', async () => {
    await using page = await openPage(browser);
    await page.choose('#file', [at('part.zip')]);
    await page.choose('#keys-input', [at('trust.json'), at('wrong.json')]);
    await expect.poll(() => page.text('#key-list')).toContain('trust.KEY_INVALID');
    expect(await page.verify(NOW)).toContain('wrong.json');
  });

  test('the page saves a page as the command writes it, named after the evidence, the verdict and the day', async () => {
    await using page = await openPage(browser);
    await page.choose('#file', [at('damaged.zip')]);
    await page.choose('#keys-input', [at('trust.json')]);
    await page.verify(NOW);
    await page.evaluate("void document.querySelector('#save-page').click()");
    const { stdout } = await call([
      'verify',
      'damaged.zip',
      ...TRUST,
      '--as-of',
      String(NOW),
      '--format',
      'html',
    ]);
    const named = /, page <code>sha256:[0-9a-f]{64}<\/code>/;
    const save = async (): Promise<string> =>
      (await page.evaluate<string>('blobs.at(-1).text()')).replace(named, '');
    await expect.poll(save).toBe(stdout);
    const today = new Date().toISOString().slice(0, 10);
    expect(await page.evaluate('savedAs')).toBe(`damaged.failed.${today}.html`);
  });

  test('the page opens a saved report, and states that nothing was verified', async () => {
    await using page = await openPage(browser);
    await writeFiles('.', { 'saved.report.json.tst': Buffer.from('not checked') });
    await page.choose('#file', [at('saved.report.json'), at('saved.report.json.tst')]);
    expect(await page.verify(NOW)).toContain('VERIFIED');
    expect(await page.text('#warnings')).toContain('Nothing was verified now');
    expect(await page.text('#warnings')).toContain('does not check timestamps (saved.report.json.tst)');
    const title = `saved: ${VERIFIED_PART}`;
    expect(await page.evaluate('document.title')).toBe(`${title} - drillproof`);
    expect(await page.evaluate("document.querySelector('#report .running').textContent")).toBe(title);
    expect(await page.saveReport()).toBe(await readFile('saved.report.json', 'utf8'));
  });

  test.each(['receipts-1', 'receipts-2', 'bag'])(
    'the page verifies the mirror of an earlier schema in test/old/%s',
    async (kind) => {
      await using page = await openPage(browser);
      await cp(join(OLD, kind), at(`${name}-${kind}`), { recursive: true });
      await page.chooseFolder(await listFiles(`${name}-${kind}`), at(`${name}-${kind}`));
      await page.choose('#keys-input', [join(OLD, 'trust.json')]);
      expect(await page.verify(LATER)).toContain('VERIFIED');
    },
  );

  test('the page finds the one export in a folder around it, and asks if there are several', async () => {
    await using page = await openPage(browser);
    const around = `${name}-around`;
    await cp(at('export'), at(`${around}/export`), { recursive: true });
    await writeFiles(around, {
      'letter.txt': Buffer.from('Here it is.'),
      'export.tst': Buffer.from('not checked'),
    });
    await page.chooseFolder(await listFiles(around), at(around));
    await page.choose('#keys-input', [at('trust.json')]);
    expect(await page.verify(NOW)).toContain('VERIFIED');
    expect(await page.saveReport()).toBe(await runJson(['verify', 'export', ...TRUST]));
    expect(await page.text('#evidence-name')).toContain('2 other files will not be verified');
    expect(await page.text('#warnings')).toContain('The page does not check timestamps (export.tst)');
  });

  test('the page verifies several exports and parts as the command does, and looks inside each', async () => {
    await using page = await openPage(browser);
    const paths = ['export', 'damaged', 'part.zip'];
    const around = `${name}-several`;
    for (const path of paths) await cp(at(path), at(`${around}/${path}`), { recursive: true });
    await page.chooseFolder(await listFiles(around), at(around));
    await page.choose('#keys-input', [at('trust.json')]);
    expect(await page.verify(NOW)).toMatch(/FAILED\s+2 of 3 paths passed/);
    expect(await page.evaluate('document.title')).toBe('2 of 3 passed - drillproof');
    const { paths: order } = await page.evaluate<{ paths: string[] }>(
      "({ paths: [...document.querySelectorAll('#paths tbody th > code')].map((code) => code.innerText) })",
    );
    expect(order.toSorted()).toEqual(paths.toSorted());
    expect(await page.saveReport()).toBe(await runJson(['verify', ...order, ...TRUST]));
    await page.evaluate("void document.querySelectorAll('#paths button')[0].click()");
    await expect.poll(() => page.text('#inside-body')).toContain('Verification of evidence');
    await page.evaluate(setField('#digest', digest));
    await page.verify(NOW);
    expect(await page.text('#message')).toContain('about one export or part');
  });

  test('the page and the command verify an export that another program packed from its folder', async () => {
    await using page = await openPage(browser);
    const again = `${name}-again.zip`;
    execFileSync('zip', ['-qr', again, 'export']);
    await page.choose('#file', [at(again)]);
    await page.choose('#keys-input', [at('trust.json')]);
    expect(await page.verify(NOW)).toContain('VERIFIED');
    expect(await page.saveReport()).toBe(await runJson(['verify', again, ...TRUST]));
  });

  test('the page shows what a part contains, with assertions and the beginning of its texts', async () => {
    await using page = await openPage(browser);
    await page.choose('#file', [at('part.zip')]);
    await page.verify(NOW);
    await page.evaluate("void document.querySelector('#part button:last-of-type').click()");
    await expect.poll(() => page.text('#inside-body')).toContain('What the part contains');
    expect(await page.text('#inside-body')).toMatch(/hosted run\s+hrun_/);
    expect(await page.text('#inside-body')).toMatch(/\d objects/);
  });

  test('a report of the page names the page by the digest of its file', async () => {
    await using page = await openPage(browser);
    await page.choose('#file', [at('part.zip')]);
    await page.verify(NOW);
    await page.saveReport();
    const { run } = JSON.parse(await page.evaluate<string>('blobs.at(-1).text()')) as { run: Run };
    const line = await page.evaluate<string>(
      "[...document.querySelectorAll('footer code')].at(-2).textContent",
    );
    const sum = execFileSync('sh', ['-c', line], { cwd: dirname(PAGE), encoding: 'utf8' });
    expect(`sha256:${sum.slice(0, 64)}`).toBe(run.tool.page);
  });

  test('the page takes keys that are dropped with the evidence, and shows them among the keys', async () => {
    await using page = await openPage(browser);
    await page.drop('#evidence-drop', '#file', [at('part.zip'), at('trust.json')]);
    await expect.poll(() => page.text('#key-list')).toContain('trust.json');
    expect(await page.verify(NOW)).toContain('VERIFIED');
    expect(await page.saveReport()).toBe(await runJson(['verify', 'part.zip', ...TRUST]));
  });

  test('two files with one name are refused together, because only one of them would be verified', async () => {
    await using page = await openPage(browser);
    await page.choose('#file', [at('part.zip')]);
    await page.choose('#file', [at(`export/${PART}`), at(`damaged/${PART}`)]);
    await expect.poll(() => page.text('#message')).toContain('io.KIND');
    expect(await page.verify(NOW)).toContain('Choose the evidence first');
  });

  test('the verdict is on the screen after a verification', async () => {
    await using page = await openPage(browser);
    await page.chooseFolder(await listFiles('export'), at('export'));
    await page.verify(NOW);
    const place = await page.evaluate<{ top: number; bottom: number; height: number }>(
      "(({ top, bottom }) => ({ top, bottom, height: innerHeight }))(document.querySelector('.verdict .state').getBoundingClientRect())",
    );
    expect(place.top).toBeGreaterThanOrEqual(0);
    expect(place.bottom).toBeLessThan(place.height);
    // Printed pages have it too, with its date.
    expect(await page.evaluate("document.querySelector('#report .running').textContent")).toMatch(
      new RegExp(`^intact: ${EXPORT_ID}, as of ${new Date(NOW).toISOString()}$`),
    );
  });

  test.each([
    ['list', 'VERIFIED'],
    ['part', 'VERIFIED'],
    ['other', 'FAILED'],
  ])(
    'the page verifies an envelope about the %s together with an export as the command does',
    async (subject, verdict) => {
      await using page = await openPage(browser);
      await page.chooseFolder(await listFiles('export'), at('export'));
      await page.choose('#keys-input', [at('trust.json'), at('qa.json')]);
      await page.choose('#envelopes', [at(`${subject}.dsse.json`)]);
      expect(await page.verify(LATER)).toContain(verdict);
      const args = [...TRUST, '--trust', 'qa.json', '--dsse', `${subject}.dsse.json`];
      expect(await page.saveReport()).toBe(await runJson(['verify', 'export', ...args], LATER));
    },
  );

  test('the page verifies no signature without keys, and warns of keys that are inside the evidence', async () => {
    await using page = await openPage(browser);
    await cp(at('export'), at(`${name}-keys`), { recursive: true });
    await cp(at('trust.json'), at(`${name}-keys/trust.json`));
    await page.chooseFolder(await listFiles(`${name}-keys`), at(`${name}-keys`));
    expect(await page.verify(NOW)).toContain('export.FILE_UNCOVERED');
    await page.choose('#keys-input', [at('trust.json')]);
    await page.verify(NOW);
    expect(await page.text('#warnings')).toContain('trust.json is also inside the evidence');
  });

  test('the page refuses a file that changed after it was chosen as io.CHANGED', async () => {
    await using page = await openPage(browser);
    const file = at(`${name}-changing.zip`);
    await cp(at('part.zip'), file);
    await page.choose('#file', [file]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await rm(file);
    await appendFile(file, 'other bytes');
    expect(await page.verify(NOW)).toContain('io.CHANGED');
  });

  test('the page reports progress inside a part of 2 GiB, and can be cancelled', async () => {
    await using page = await openPage(browser);
    await page.choose('#file', [at('large.zip')]);
    await page.evaluate("void document.querySelector('#verify').click()");
    const shares = await page.evaluate<number[]>(
      "new Promise((resolve) => { const seen = new Set(); const timer = setInterval(() => { const { value } = document.querySelector('#progress'); if (value > 0) seen.add(value); if (seen.size === 3) { clearInterval(timer); resolve([...seen]); } }, 50); })",
    );
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    await page.evaluate("void document.querySelector('#cancel').click()");
    expect(await page.text('#message')).toContain('Cancelled');
    expect(await page.evaluate("document.querySelector('#result').hidden")).toBe(true);
  });

  test('the page has no violation that axe finds, before and after a verification', async () => {
    await using page = await openPage(browser);
    const violations = (): Promise<string[]> =>
      page.evaluate(
        "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))",
      );
    await page.evaluate(`void (() => { ${axe.source} })()`);
    expect(await violations()).toEqual([]);
    await page.chooseFolder(await listFiles('damaged'), at('damaged'));
    await page.verify(NOW);
    expect(await violations()).toEqual([]);
  });
});

// Only in one browser, because it takes a minute.
test(
  'the page in Chromium verifies a part of 2 GiB to its end as the command does',
  { timeout: 1_200_000 },
  async () => {
    const browser = await BROWSERS.chromium();
    await using page = await openPage(browser);
    await page.choose('#file', [at('large.zip')]);
    await page.choose('#keys-input', [at('trust.json')]);
    await page.evaluate(
      "void (globalThis.lines = new Set(), new MutationObserver(([{ target }]) => lines.add(target.textContent)).observe(document.querySelector('#progress-text'), { childList: true }))",
    );
    expect(await page.verify(NOW)).toContain('VERIFIED');
    const lines = await page.evaluate<string[]>('[...lines]');
    const numbers = lines.flatMap((line) => {
      const [, read, whole] = /^([\d.]+) GiB of ([\d.]+) GiB read/.exec(line) ?? [];
      return whole === undefined ? [] : [[Number(read), Number(whole)] as const];
    });
    expect(numbers.length).toBeGreaterThan(10);
    // It is streamed, so it is read twice.
    for (const [read, whole] of numbers) expect([whole, read <= whole]).toEqual([4, true]);
    expect(await page.saveReport()).toBe(await runJson(['verify', 'large.zip', ...TRUST]));
    await browser.close();
  },
);

test('the page from a file names the dropped folder that Chromium does not list, also next to a file', async () => {
  const browser = await BROWSERS.chromium();
  await using page = await openPage(browser);
  const session = await page.page!.context().newCDPSession(page.page!);
  const data = { items: [], files: [at('part.zip'), at('export')], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: 200, y: 200, data });
  await expect.poll(() => page.text('#message')).toContain('dropped folder export (io.UNREADABLE)');
  await browser.close();
});

test('the page is smaller than 760 kB, and the address from which it is opened is that of the build', async () => {
  const page = await readPage();
  expect(page.length).toBeLessThan(760_000);
  expect(FILE_URL).toContain('dist/page');
});
