import { DEFAULT_DOCUMENT } from '../policy.ts';

/** Where editors find the schema of policies: a copy stands in the package, below `docs/`. */
export const POLICY_SCHEMA = './node_modules/drillproof/docs/schemas/policy.v1.schema.json';

/** The default policy as a file to begin with, in YAML with a comment for whatever else can be asked. */
export const yamlTemplate = (): string => TEMPLATE;

/** The same in JSON, which has no comments. */
export const jsonTemplate = (): string =>
  `${JSON.stringify({ $schema: POLICY_SCHEMA, ...DEFAULT_DOCUMENT, name: 'release' }, null, 2)}\n`;

const TEMPLATE = `# yaml-language-server: $schema=${POLICY_SCHEMA}
# What evidence must satisfy. Every member: docs/policy.md; in words: drillproof policy explain FILE.
$schema: ${POLICY_SCHEMA}
schemaVersion: 1
kind: policy
name: release

# Policies that must hold too, by the SHA-256 of their files. Nothing here weakens them.
# extends:
#   - path: ../organization.yaml
#     digest: sha256:…

# verified (the default), or intact where unsigned evidence is enough.
verdict:
  export: verified
  bundles: verified

# What the signed run result says of the drill.
outcome:
  status: [completed]
  verdict: [passed]

# The list of bundles is pinned by you (--expect-manifest) or attested by a trusted key.
completeness:
  vouched: [pinned, attested]
  # bundles: { min: 1 }
  # coverage: full

# signers:
#   issuers: [acme-ci]
#   keys: [sha256:…]
#   distinct: 2

# age:
#   max: 7d

# scope:
#   projects: [prj_0123456789ab]

# Exact text, or { pattern: … } in which * stands for any characters.
# run:
#   drills: [checkout, { pattern: 'payment-*' }]
#   targets: [shop]
#   builds: [sha256:…]

# drills:
#   required:
#     - checkout
#     - { drill: refund, min: 3, outcome: passed }

# Every trial and every attempt of each run is there. Reruns are refused unless allowed.
# trials: complete

# What users made may lie beside the evidence, and never counts.
# localReports:
#   allowed: false

# findings:
#   warnings: refuse

# waivers:
#   - code: policy.OUTCOME_VERDICT
#     subject: evidence_0123456789ab
#     reason: the shop is being mended, see issue 12
#     owner: release@acme.example
#     expires: 2026-12-31
`;
