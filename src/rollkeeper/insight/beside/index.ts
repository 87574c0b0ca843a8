export { findProblemsBeside } from './problems-beside.js';
export type { BesideSources } from './problems-beside.js';
export { certificatesOf } from './certificates.js';
export type { CertificateFacts, NamedCertificate } from './certificates.js';
export { readCertificates } from './read-certificates.js';
export type { CertifiedConnection } from './read-certificates.js';
