export { decodeBody } from './decode-body.js';
export { decodeApplied } from './decode-config.js';
export { decodeDeleteOptions } from './decode-delete-options.js';
export type { DeleteOptionsBody } from './decode-delete-options.js';
export { strictErrorText, translateDocumentLimit } from './field-validation.js';
export type { FieldValidation } from './field-validation.js';
export { checkWriteOptions, dryRunProblems, invalidOptions, notAnInteger } from './option-problems.js';
export { notRegistered, typeProblem } from './type-problems.js';
export type { NamedType } from './type-problems.js';
