export { examine } from './examine.js';
export type { DoctorOptions } from './examine.js';
export type { Diagnosis, Finding } from './finding.js';
export { renderDiagnosis } from './render-diagnosis.js';
