export { SealedBox } from './sealed-box.js';
export { SESSION_LASTS_MS, SealedSessions, isSession } from './sealed-sessions.js';
export { CODE_LASTS_MS, SignInCodes } from './sign-in-codes.js';
export { signInLink } from './sign-in-link.js';
export type { SignInCode } from './sign-in-link.js';
