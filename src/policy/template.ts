import { DEFAULT_DOCUMENT } from './policy.ts';

/** The schema for editors: a copy in the npm package. */
export const POLICY_SCHEMA = './node_modules/drillproof/docs/schemas/policy.v1.schema.json';

export const yamlTemplate = (): string => TEMPLATE;

export const jsonTemplate = (): string =>
  `${JSON.stringify({ $schema: POLICY_SCHEMA, ...DEFAULT_DOCUMENT, name: 'release' }, null, 2)}\n`;

const TEMPLATE = `# yaml-language-server: $schema=${POLICY_SCHEMA}
# What evidence must satisfy. docs/gate/policy.md describes every member; drillproof policy explain FILE prints it in words.
$schema: ${POLICY_SCHEMA}
schemaVersion: 1
kind: policy
name: release

# Policies that must hold too, pinned by the SHA-256 of their files.
# extends:
#   - path: ../organization.yaml
#     digest: sha256:…

# verified (default), or intact to accept unsigned evidence.
verdict:
  export: verified
  bundles: verified

# The outcome of the drill in the signed run result.
outcome:
  status: [completed]
  verdict: [passed]
  # passRate: 95
  # assertions: [stock-is-restored]
  # checkpoints: [end]

# The run result does not contradict itself.
contradictions: refuse

# You pin the list of bundles (--expect-manifest), or a trusted key attests it.
completeness:
  vouched: [pinned, attested]
  # issuers: [acme-release]
  # bundles: { min: 1 }
  # coverage: full # all bytes but the claims of export.json
  # window: { last: 30d, lag: 1d }

# signers:
#   issuers: [acme-ci]
#   keys: [sha256:…]
#   distinct: 2
#   distinctIssuers: 2
#   roles: [{ role: build, issuers: [acme-ci] }, { role: quality, issuers: [acme-qa] }]
#   validFor: 30d

# age:
#   max: 7d
#   run: 7d

# scope:
#   projects: [prj_0123456789ab]

# Exact text, or { pattern: … } in which * matches any characters.
# run:
#   drills: [checkout, { pattern: 'payment-*' }]
#   targets: [shop]
#   builds: [sha256:…]
#   distinctSeeds: 3

# drills:
#   required:
#     - checkout
#     - { drill: refund, min: 3, outcome: passed }
#     - { drill: refund, outcome: passed, ran: 7d, latest: true }

# Require every trial and attempt of each run. Reruns are refused unless allowed.
# trials: complete

# Local reports are allowed by default, and never count.
# localReports:
#   allowed: false

# findings:
#   warnings: refuse

# One of these sets of rules must hold too.
# anyOf:
#   - age: { run: 2d }
#   - signers: { distinct: 2 }

# Rules whose violations are only warnings, always or before a moment.
# enforcement:
#   age.run: { severity: warn }
#   signers.distinct: { effectiveFrom: 2026-12-31 }

# Values that the caller gives with --param; a rule uses one as { param: commit }.
# parameters:
#   commit: { type: commit }

# How far the clocks of runners and signers may differ.
# clockSkew: 5m

# waivers:
#   - code: policy.OUTCOME_VERDICT
#     subject: evidence_0123456789ab
#     reason: the shop is being repaired, see issue 12
#     owner: release@acme.example
#     expires: 2026-12-31
`;
