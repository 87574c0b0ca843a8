export { decodeBody } from './decode-body.js';
export type { DecodeBodyOptions } from './decode-body.js';
export { decodeDeleteOptions } from './decode-delete-options.js';
export type { DeleteOptionsBody } from './decode-delete-options.js';
export {
  fieldValidationOf,
  judgeFindings,
  strictErrorText,
  translateDocumentLimit,
} from './field-validation.js';
export type { FieldValidation } from './field-validation.js';
