export { DelegatedAccess } from './delegated-access.js';
export type { AccessJudge, AccessQuestion, AccessVerdict, AskingOne } from './delegated-access.js';
export type { UserInfo } from './reviews.js';
export { mayList } from './may-list.js';
export { review } from './reviews.js';
