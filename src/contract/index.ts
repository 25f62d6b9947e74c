/**
 * The wire of the control API: identifiers, resources, the error envelope, and the operations as one table, from which
 * the OpenAPI document is made. Schemas are zod schemas; types are inferred from them.
 */
export * from './attestation.ts';
export * from './authoring.ts';
export * from './build.ts';
export * from './errors.ts';
export * from './evidence-bundle.ts';
export * from './evidence-export.ts';
export * from './hosted-run.ts';
export * from './identifiers.ts';
export * from './local-report.ts';
export * from './open-endpoints.ts';
export * from './openapi.ts';
export * from './operation-error.ts';
export * from './operation-errors.ts';
export * from './operation-resource.ts';
export * from './operation-result.ts';
export * from './operations.ts';
export * from './paging.ts';
export * from './paths.ts';
export * from './responses.ts';
export * from './run-assertion.ts';
export * from './run-capture.ts';
export * from './run-result.ts';
export * from './run-setup.ts';
export {
  countSchema,
  decimalBytesSchema,
  integerSchema,
  msSchema,
  openObjectSchema,
  positiveIntegerSchema,
  schemaVersionSchema,
  usSchema,
} from './scalars.ts';
export * from './session.ts';
export * from './tool-source.ts';
