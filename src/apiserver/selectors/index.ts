export { isFieldSelector, parseFieldSelector, requiredFields, requiredName } from './field-selector-text.js';
export type { FieldRequirement, FieldSelector } from './field-selector-text.js';
export { checkSelectors, parseLabelSelector, parseSelection } from './selection.js';
export type { Selection } from './selection.js';
