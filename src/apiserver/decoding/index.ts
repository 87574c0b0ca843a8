export { decodeBody } from './decode-body.js';
export type { DecodeBodyOptions } from './decode-body.js';
export { decodeDeleteOptions } from './decode-delete-options.js';
export type { DeleteOptionsBody } from './decode-delete-options.js';
export { judgeFindings, strictErrorText, translateDocumentLimit } from './field-validation.js';
export type { FieldValidation } from './field-validation.js';
export { checkWriteOptions, dryRunProblems, invalidOptions, notAnInteger } from './option-problems.js';
export { notRegistered, typeProblem } from './type-problems.js';
export type { NamedType } from './type-problems.js';
