export { conversionProblem, DecodeError, documentProblemOf, problemOf } from './decode-error.js';
export {
  convertObject,
  decodeJson,
  decodeObject,
  describeFinding,
  normalizeObject,
  readConfig,
  readMessage,
  sortFindings,
  summaryOfBytes,
  typeFieldProblem,
} from './decode-object.js';
export { asWritten, copyEmptied, hasEmptied } from './emptied-fields.js';
export type { Descriptions, FieldFinding, ObjectSchema, SchemaRegistry } from './object-schema.js';
export { checkJsonText, checkValue, DocumentLimitError, MAX_DEPTH, MAX_VALUES } from './document-limits.js';
export { JsonSyntaxError, readJsonText } from './json-text.js';
export { PatternSyntaxError, linearPattern } from './linear-pattern.js';
export { emptyObjectOf, writeEmpties } from './write-empties.js';
export type { PreviewedSchemas } from './previewed-schemas.js';
export { createSchemaRegistry } from './schema-registry.js';
export { isResourceField, pruned } from './structural-schema.js';
export type { StructuralSchema } from './structural-schema.js';
