export { DecodeError } from './decode-error.js';
export type { DecodeProblem } from './decode-error.js';
export { decodeObject, describeFinding, normalizeObject } from './decode-object.js';
export type { DecodeOptions, DecodedObject } from './decode-object.js';
export type { Descriptions, FieldFinding, ObjectSchema, SchemaRegistry } from './object-schema.js';
export { canonicalQuantity, formatQuantity, parseQuantity } from './quantity.js';
export type { Quantity } from './quantity.js';
export { createSchemaRegistry } from './schema-registry.js';
export { parseYaml } from './yaml-text.js';
