import type { ObjectSchema, SchemaRegistry } from '../../schema/index.js';

const STATUS = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status';
const RAW = 'io.k8s.apimachinery.pkg.runtime.RawExtension';
const ADMISSION = 'io.k8s.api.admission.v1';
const EXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';

export const ADMISSION_REVIEW = `${ADMISSION}.AdmissionReview`;
export const CONVERSION_REVIEW = `${EXTENSIONS}.ConversionReview`;

const TEXT: ObjectSchema = { type: 'string' };
const ANYTHING: ObjectSchema = { type: 'any' };
const to = (name: string): ObjectSchema => ({ type: 'ref', ref: name });

/** The types that webhooks answer with. They are in no OpenAPI document, and look the same in v1 and v1beta1. */
const TYPES: ReadonlyMap<string, ObjectSchema> = new Map(
  Object.entries<ObjectSchema>({
    [ADMISSION_REVIEW]: review(`${ADMISSION}.AdmissionResponse`),
    [`${ADMISSION}.AdmissionResponse`]: {
      type: 'object',
      properties: {
        uid: TEXT,
        allowed: { type: 'boolean' },
        status: to(STATUS),
        patch: { type: 'string', format: 'byte' },
        patchType: TEXT,
        auditAnnotations: { type: 'map', items: TEXT },
        warnings: { type: 'array', items: TEXT },
      },
    },
    [CONVERSION_REVIEW]: review(`${EXTENSIONS}.ConversionResponse`),
    [`${EXTENSIONS}.ConversionResponse`]: {
      type: 'object',
      properties: { uid: TEXT, convertedObjects: { type: 'array', items: to(RAW) }, result: to(STATUS) },
    },
  }),
);

/** A request that comes back with the response is not looked at. */
function review(response: string): ObjectSchema {
  return {
    type: 'object',
    properties: { apiVersion: TEXT, kind: TEXT, request: ANYTHING, response: to(response) },
  };
}

const extended = new WeakMap<SchemaRegistry, SchemaRegistry>();

/** The schemas of an API together with those of {@link ADMISSION_REVIEW} and {@link CONVERSION_REVIEW}. */
export function withReviews(schemas: SchemaRegistry): SchemaRegistry {
  const known = extended.get(schemas) ?? {
    get: (name: string) => TYPES.get(name) ?? schemas.get(name),
    goFacts: (name: string) => schemas.goFacts(name),
    describe: (name: string) => schemas.describe(name),
    get names() {
      return schemas.names;
    },
    put: (name: string, schema: ObjectSchema) => schemas.put(name, schema),
    remove: (name: string) => schemas.remove(name),
  };
  extended.set(schemas, known);
  return known;
}
