export { Admission, ADMISSION_PLUGINS } from './admission.js';
export type { AdmissionPluginName } from './admission.js';
export { SERVER } from './attributes.js';
export type { Attributes, Caller, Operation, SentType, WriteAttributes } from './attributes.js';
export type { ObjectCheck, ObjectProblem } from './plugins/object-checks.js';
export type { UnknownAccounts } from './plugins/service-account.js';
