/**
 * The parts of SARIF 2.1.0 that we write, as a closed JSON Schema: members and their types from the sections named, and
 * nothing else allowed.
 */
const closed = (required: readonly string[], properties: Record<string, object>): object => ({
  type: 'object',
  required,
  additionalProperties: false,
  properties,
});
const string = { type: 'string' };
const filled = { type: 'string', minLength: 1 };
const index = { type: 'integer', minimum: 0 };
const level = { enum: ['none', 'note', 'warning', 'error'] };
const message = closed(['text'], { text: filled }); // §3.11
const multiformat = closed(['text'], { text: filled, markdown: filled }); // §3.12
const uriReference = {
  type: 'string',
  pattern: String.raw`^([A-Za-z][A-Za-z0-9+.-]*:)?([A-Za-z0-9._~/!$&'()*+,;=@-]|%[0-9A-F]{2}|:)+$`,
};
const bag = { type: 'object' };

const descriptor = closed(['id'], {
  id: filled,
  shortDescription: multiformat,
  fullDescription: multiformat,
  help: multiformat,
  defaultConfiguration: closed([], { level }),
  properties: bag,
}); // §3.49
const component = (list: 'rules' | 'taxa'): object =>
  closed(['name'], {
    name: filled,
    isComprehensive: { type: 'boolean' },
    shortDescription: multiformat,
    [list]: { type: 'array', uniqueItems: true, items: descriptor },
  }); // §3.19
const location = closed(['physicalLocation'], {
  physicalLocation: closed(['artifactLocation'], {
    artifactLocation: closed(['uri'], { uri: uriReference, uriBaseId: string }),
    region: closed(['startLine'], { startLine: { type: 'integer', minimum: 1 } }),
  }),
  logicalLocations: {
    type: 'array',
    items: closed([], { name: string, fullyQualifiedName: string }),
  },
}); // §3.28
const result = closed(['message', 'ruleId', 'ruleIndex', 'level', 'locations', 'partialFingerprints'], {
  ruleId: filled,
  ruleIndex: index,
  level,
  message,
  locations: { type: 'array', minItems: 1, maxItems: 1, items: location },
  taxa: {
    type: 'array',
    uniqueItems: true,
    items: closed(['id'], { id: filled, index, toolComponent: closed([], { name: filled, index }) }),
  },
  partialFingerprints: { type: 'object', additionalProperties: string },
  suppressions: {
    type: 'array',
    uniqueItems: true,
    items: closed(['kind'], {
      kind: { enum: ['inSource', 'external'] },
      status: { enum: ['accepted', 'underReview', 'rejected'] },
      justification: string,
    }),
  },
  properties: bag,
}); // §3.27
const invocation = closed(['executionSuccessful'], {
  executionSuccessful: { type: 'boolean' },
  exitCode: { type: 'integer' },
  toolExecutionNotifications: { type: 'array', items: closed(['message'], { level, message }) },
}); // §3.20

export const SARIF_SCHEMA = closed(['version', 'runs'], {
  $schema: filled,
  version: { const: '2.1.0' },
  runs: {
    type: 'array',
    minItems: 1,
    items: closed(['tool', 'results'], {
      tool: closed(['driver'], { driver: component('rules') }),
      taxonomies: { type: 'array', uniqueItems: true, items: component('taxa') },
      automationDetails: closed([], { id: string }),
      columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
      invocations: { type: 'array', items: invocation },
      results: { type: 'array', items: result },
      properties: bag,
    }),
  },
}); // §3.13, §3.14

/** What GitLab documents for a code quality report: required members, severities, a relative path. */
export const GITLAB_SCHEMA = {
  type: 'array',
  items: closed(['description', 'check_name', 'fingerprint', 'severity', 'location'], {
    description: filled,
    check_name: filled,
    fingerprint: filled,
    severity: { enum: ['info', 'minor', 'major', 'critical', 'blocker'] },
    location: closed(['path', 'lines'], {
      path: filled,
      lines: closed(['begin'], { begin: { type: 'integer', minimum: 1 } }),
    }),
  }),
};
