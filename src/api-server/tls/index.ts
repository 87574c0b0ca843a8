export { ensureTlsFiles } from './tls-files.js';
export type { TlsFilesOptions, TlsMaterial } from './tls-files.js';
