/**
 * The wire of the control API: identifiers, resources, the error envelope, and the operations as one table, from which
 * the OpenAPI document is made. Schemas are those of zod/mini; types are inferred from them.
 */
export * from './resources/evidence.ts';
export * from './resources/authoring.ts';
export * from './resources/build.ts';
export * from './operations/errors.ts';
export * from './resources/run.ts';
export * from './scalars.ts';
export * from './openapi/openapi.ts';
export * from './resources/operation.ts';
export * from './operations/rows.ts';
export * from './operations/operations.ts';
export * from './operations/answers.ts';
export * from './resources/session.ts';
export { typeValue } from './type-value.ts';
