/**
 * The wire of the control API: identifiers, resources, the error envelope, and the operations as one table, from which
 * the OpenAPI document is made. Schemas are zod schemas; types are inferred from them.
 */
export * from './resources/attestation.ts';
export * from './resources/authoring.ts';
export * from './resources/build.ts';
export * from './operations/errors.ts';
export * from './resources/evidence-bundle.ts';
export * from './resources/evidence-export.ts';
export * from './resources/hosted-run.ts';
export * from './identifiers.ts';
export * from './resources/local-report.ts';
export * from './operations/open-endpoints.ts';
export * from './openapi/openapi.ts';
export * from './operations/error.ts';
export * from './operations/error-sets.ts';
export * from './operations/resource.ts';
export * from './operations/result.ts';
export * from './operations/operations.ts';
export * from './operations/paging.ts';
export * from './operations/paths.ts';
export * from './operations/responses.ts';
export * from './resources/run-assertion.ts';
export * from './resources/run-capture.ts';
export * from './resources/run-result.ts';
export * from './resources/run-setup.ts';
export {
  atMsSchema,
  countSchema,
  decimalBytesSchema,
  msSchema,
  positiveIntegerSchema,
  schemaVersionSchema,
  textSchema,
} from './scalars.ts';
export * from './resources/session.ts';
export * from './resources/tool-source.ts';
