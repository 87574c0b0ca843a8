export { bearerTokenCheck } from './bearer-token.js';
export { ensureTokenFile } from './token-file.js';
