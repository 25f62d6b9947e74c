import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drillproof } from '../cli/make.ts';
import { servedExports } from '../cli/mirror/served-exports.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { objectsOf, podOf, read, settingsOf } from './deployment.ts';

const UNITS = readdirSync('docs/archive/deployment').filter((name) => /\.(?:service|timer)$/.test(name));
const KUBERNETES = objectsOf(read('kubernetes.yaml'));
const page = readFileSync('docs/archive/archive.md', 'utf8');
const folder = await makeFolder();

/** The words with their variables replaced, such as `${NAME}` or `$(NAME)`. */
const expand = (words: readonly string[], variables: Readonly<Record<string, string>>): string[] =>
  words.map((word) => word.replaceAll(/\$[{(](\w+)[})]/g, (_all, name: string) => variables[name] ?? ''));

it('systemd-analyze accepts the systemd units of docs/archive/deployment', async () => {
  const programs = /\/usr\/(?:local\/)?bin\/(?:drillproof|logger)/g;
  const units = UNITS.flatMap((name) =>
    [name, name.replace('@', '@x')].map((file) => [file, read(name).replaceAll(programs, '/bin/true')]),
  );
  await writeFiles(folder, Object.fromEntries(units));
  const files = UNITS.map((name) => join(folder, name.replace('@', '@x')));
  const output = execFileSync('systemd-analyze', ['verify', '--man=no', ...files], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  expect(output).toBe('');
});

it('each systemd timer has its service, and each failure starts the alert', () => {
  const timers = UNITS.filter((name) => name.endsWith('.timer'));
  expect(timers).toHaveLength(2);
  for (const name of timers) {
    const service = settingsOf(read(name.replace('.timer', '.service')));
    expect(service.get('OnFailure')).toBe('drillproof-alert@%n.service');
    expect(service.get('SuccessExitStatus')).toBe('130');
    expect(settingsOf(read(name)).get('Persistent')).toBe('yes');
  }
});

describe('the objects for Kubernetes', () => {
  const all = KUBERNETES;
  const claims = all
    .filter(({ kind }) => kind === 'PersistentVolumeClaim')
    .map(({ metadata }) => metadata.name);

  it('docs/archive/deployment has a volume, a mirror and a scrub for Kubernetes', () => {
    expect(all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'PersistentVolumeClaim drillproof-archive',
      'CronJob drillproof-mirror',
      'CronJob drillproof-scrub',
    ]);
  });

  it.each(
    all.flatMap((object) =>
      podOf(object) === undefined ? [] : [[object.metadata.name, podOf(object)!] as const],
    ),
  )(
    'the pods of %s mount defined volumes, use variables that are set, and write only to volumes',
    (_name, { pod, rules }) => {
      const [container] = pod.containers;
      const volumes = pod.volumes.map(({ name }) => name);
      expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(volumes.toSorted());
      for (const volume of pod.volumes)
        if ('persistentVolumeClaim' in volume)
          expect(claims).toContain(volume.persistentVolumeClaim.claimName);
      const variables = new Set([...container.env.map(({ name }) => name), 'JOB_COMPLETION_INDEX']);
      const used = container.command.flatMap((word) =>
        Array.from(word.matchAll(/\$\((\w+)\)/g), ([, name = '']) => name),
      );
      expect(used.filter((name) => !variables.has(name))).toEqual([]);
      const codes = rules.flatMap((rule) => ('onExitCodes' in rule ? [rule.onExitCodes] : []));
      expect(codes).toEqual([{ containerName: container.name, operator: 'In', values: [1, 2] }]);
    },
  );

  it('Kubernetes pods that write to one volume have stable, distinct host names', () => {
    const names = KUBERNETES.flatMap((object) => podOf(object)?.pod.hostname ?? []);
    expect(names).toEqual(['drillproof-mirror', 'drillproof-scrub']);
  });
});

describe('the command lines of docs/archive/deployment', () => {
  let served: Awaited<ReturnType<typeof servedExports>>;
  let token: string;
  beforeAll(async () => {
    served = await servedExports();
    const created = await served.run(
      'admin token create --organization org_000000000001 --all-projects --data plane',
    );
    token = created.stdout.trim();
  });
  afterAll(() => served[Symbol.asyncDispose]());

  type Run = () => ReturnType<typeof drillproof>;

  /** Runs a command with each of `paths` replaced by a path in the test folder. */
  function run(words: readonly string[], paths: Readonly<Record<string, string>>, env = {}) {
    const moved = words.map((word) =>
      Object.entries(paths).reduce((text, [from, to]) => text.replaceAll(from, to), word),
    );
    return drillproof(moved, { cwd: served.path('.'), env });
  }

  /** The first run fetches every export, and the second one keeps what the inventory names. */
  async function expectTwoRuns(mirror: Run, scrub: Run, archive: string) {
    for (const state of [/"complete": 2|2 complete/, /"kept": [12]|kept +[12] export/]) {
      const { code, stdout, stderr } = await mirror();
      expect([code, stdout]).toEqual([0, expect.stringMatching(state)]);
      expect(stderr + stdout).not.toContain(token);
    }
    for (const id of served.ids)
      expect((await served.run(`verify ${archive}/${id} --trust trust.json --jobs 1`)).code).toBe(0);
    for (let times = 0; times < 2; times++) expect((await scrub()).code).toBe(0);
  }

  /** A new folder with the token, as a secret is mounted. */
  async function writeSecret(name: string, end = '') {
    const trust = readFileSync(served.path('trust.json'));
    await writeFiles(served.path(name), { token: token + end, 'trust.json': trust });
    return served.path(name);
  }

  it('the commands of the systemd units mirror and scrub every export with a private token', async () => {
    const state = served.path('var');
    const credentials = await writeSecret('credentials', '\n');
    const variables = { ...Object.fromEntries(settingsOf(read('mirror.env'))), DRILLPROOF_URL: served.url };
    const commandOf = (unit: string): Run => {
      const settings = settingsOf(read(unit));
      expect(settings.get('LoadCredential')).toBe('token:/etc/drillproof/token');
      expect(settings.get('EnvironmentFile')).toBe('/etc/drillproof/mirror.env');
      const line = settings.get('ExecStart')?.replaceAll('%d', credentials) ?? '';
      const [program, ...words] = expand(line.split(' '), variables);
      expect(program).toBe('/usr/local/bin/drillproof');
      return () =>
        run(words, { '/var/lib/drillproof': state, '/etc/drillproof': served.path('.') }, variables);
    };
    const [mirror, scrub] = [commandOf('drillproof-mirror.service'), commandOf('drillproof-scrub.service')];
    await expectTwoRuns(mirror, scrub, join(state, 'archive'));
  });

  it('the commands of the Kubernetes objects mirror and scrub every export with a secret token', async () => {
    const volume = served.path('volume');
    const secret = await writeSecret('secret');
    const commandOf = (name: string): Run => {
      const job = podOf(KUBERNETES.find(({ metadata }) => metadata.name === name)!)!;
      const [{ command, env }] = job.pod.containers;
      const values = Object.fromEntries(env.map(({ name: key, value }) => [key, value]));
      const variables = { ...values, DRILLPROOF_URL: served.url };
      const [program, ...words] = expand(command, variables);
      expect(program).toBe('drillproof');
      return () => run(words, { '/run/secrets/drillproof': secret, '/archive': volume }, variables);
    };
    const [mirror, scrub] = [commandOf('drillproof-mirror'), commandOf('drillproof-scrub')];
    await expectTwoRuns(mirror, scrub, join(volume, 'exports'));
  });
});

it('docs/archive/archive.md names every file in docs/archive/deployment', () => {
  for (const name of readdirSync('docs/archive/deployment')) expect(page).toContain(`deployment/${name}`);
});
