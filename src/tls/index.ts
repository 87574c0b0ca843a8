// `certificates.js` and `issue-certificate.js` are not exported here: they load a large library.
export { readCertificateRequest } from './certificate-request.js';
export type { CertificateRequest } from './certificate-request.js';
export { readCertificateSubject } from './certificate-subject.js';
export type { CertificateSubject } from './certificate-subject.js';
export { certificateFiles, selfMadeCertificate } from './certificate-source.js';
export type { CertificateSource } from './certificate-source.js';
export { DerError } from './der.js';
export { fingerprintOf } from './key-pair.js';
export type { KeyPair } from './key-pair.js';
export { SERVER_PROTOCOLS } from './server-protocols.js';
export { ServedCertificate } from './served-certificate.js';
export type { ServedCertificateDependencies } from './served-certificate.js';
export { WrongCertificateError, agentTrusting, isFingerprint, trustedAgent } from './trusted-agent.js';
export type { ServerTrust } from './trusted-agent.js';
