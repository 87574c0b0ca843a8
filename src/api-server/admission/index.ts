export { Admission } from './admission.js';
export { SERVER } from './attributes.js';
export type { AdmissionUser, Attributes, Caller, Operation, WriteAttributes } from './attributes.js';
