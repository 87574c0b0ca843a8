// Not here: `certificates.js`, which makes them, and loads a large library for that.
export { certificateFiles, selfMadeCertificate } from './certificate-source.js';
export type { CertificateSource } from './certificate-source.js';
export { fingerprintOf } from './key-pair.js';
export type { KeyPair } from './key-pair.js';
export { ServedCertificate } from './served-certificate.js';
export type { ServedCertificateDependencies } from './served-certificate.js';
export { WrongCertificateError, isFingerprint, trustedAgent } from './trusted-agent.js';
export type { ServerTrust } from './trusted-agent.js';
