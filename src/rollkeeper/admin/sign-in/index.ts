export { SealedBox } from './sealed-box.js';
export { SESSION_LASTS_MS, SealedSessions, isSession } from './sealed-sessions.js';
export { CODE_LASTS_MS, SignInCodes, signInLink } from './sign-in-codes.js';
export type { SignInCode } from './sign-in-codes.js';
