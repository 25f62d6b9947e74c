import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod/mini';

const FOLDER = join(import.meta.dirname, '../../docs/archive/deployment');
export const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

/** The settings of a systemd unit, or the variables of an environment file; the last value of a repeated one. */
export const settingsOf = (unit: string): ReadonlyMap<string, string> =>
  new Map(Array.from(unit.matchAll(/^([A-Z]\w+)=(.*)$/gm), ([, name = '', value = '']) => [name, value]));

const container = z.looseObject({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(
    z.strictObject({ name: z.string(), mountPath: z.string(), readOnly: z.optional(z.boolean()) }),
  ),
});
const pod = z.strictObject({
  hostname: z.optional(z.string()),
  restartPolicy: z.literal('Never'),
  terminationGracePeriodSeconds: z.int(),
  automountServiceAccountToken: z.literal(false),
  securityContext: z.looseObject({
    runAsNonRoot: z.literal(true),
    runAsUser: z.int().check(z.gte(1)),
    fsGroup: z.int().check(z.gte(1)),
  }),
  containers: z.tuple([container]),
  volumes: z.array(
    z.union([
      z.strictObject({ name: z.string(), persistentVolumeClaim: z.strictObject({ claimName: z.string() }) }),
      z.strictObject({
        name: z.string(),
        secret: z.strictObject({ secretName: z.literal('drillproof-token'), defaultMode: z.literal(0o440) }),
      }),
    ]),
  ),
});
const rule = z.union([
  z.strictObject({
    action: z.literal('Ignore'),
    onPodConditions: z.tuple([z.strictObject({ type: z.literal('DisruptionTarget') })]),
  }),
  z.strictObject({
    action: z.literal('FailJob'),
    onExitCodes: z.strictObject({
      containerName: z.string(),
      operator: z.literal('In'),
      values: z.array(z.int().check(z.gte(1))),
    }),
  }),
]);
const jobSpec = z.looseObject({
  podFailurePolicy: z.strictObject({ rules: z.array(rule) }),
  template: z.strictObject({ spec: pod }),
});
const metadata = z.strictObject({ name: z.string().check(z.regex(/^[a-z][a-z-]{1,50}$/)) });
const cron = z.stringFormat('cron', /^\d{1,2} \d{1,2} \* \* \*$/);

const objectSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    apiVersion: z.literal('v1'),
    kind: z.literal('PersistentVolumeClaim'),
    metadata,
    spec: z.strictObject({
      accessModes: z.array(z.literal('ReadWriteOnce')),
      resources: z.strictObject({ requests: z.strictObject({ storage: z.string() }) }),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal('batch/v1'),
    kind: z.literal('CronJob'),
    metadata,
    spec: z.strictObject({
      schedule: cron,
      concurrencyPolicy: z.literal('Forbid'),
      startingDeadlineSeconds: z.int(),
      failedJobsHistoryLimit: z.int(),
      jobTemplate: z.strictObject({ spec: jobSpec }),
    }),
  }),
  z.strictObject({ apiVersion: z.literal('batch/v1'), kind: z.literal('Job'), metadata, spec: jobSpec }),
]);
type KubernetesObject = z.infer<typeof objectSchema>;
type Pod = z.infer<typeof pod>;

/** The objects of a Kubernetes manifest; a member that the schema does not have is an error. */
export const objectsOf = (yaml: string): readonly KubernetesObject[] =>
  parseAllDocuments(yaml, { strict: true, uniqueKeys: true }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return objectSchema.parse(document.toJS());
  });

/** The pod of a job, and the rules for its failures. */
export function podOf(
  object: KubernetesObject,
): { readonly pod: Pod; readonly rules: readonly z.infer<typeof rule>[] } | undefined {
  if (object.kind === 'PersistentVolumeClaim') return undefined;
  const { template, podFailurePolicy } =
    object.kind === 'CronJob' ? object.spec.jobTemplate.spec : object.spec;
  return { pod: template.spec, rules: podFailurePolicy.rules };
}

const alertSchema = z.strictObject({
  alert: z.string(),
  expr: z.string(),
  for: z.optional(z.string()),
  annotations: z.strictObject({ summary: z.string() }),
});
const alertsSchema = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(alertSchema) })),
});

/** The rules of docs/server/deployment/alerts.yaml. */
export function readAlerts(): readonly z.infer<typeof alertSchema>[] {
  const [document] = parseAllDocuments(readFileSync('docs/server/deployment/alerts.yaml', 'utf8'));
  return alertsSchema.parse(document?.toJS()).groups.flatMap(({ rules }) => rules);
}
