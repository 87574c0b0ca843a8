export type { ListReads } from './cluster-reader.js';
export { diagnose } from './diagnose.js';
export type { DiagnoseOptions } from './diagnose-options.js';
export type {
  Diagnosis,
  DiagnosisCause,
  DiagnosisFinding,
  DiagnosisState,
  NamedObject,
} from './diagnosis.js';
export { certificateProblems, replicaProblems } from './beside-problems.js';
export type { EndingCertificate, SeenReplica } from './beside-problems.js';
export { findProblems } from './find-problems.js';
export type { FindProblemsOptions, Problems } from './find-problems.js';
export { KIND_DIAGNOSES, kindNamed } from './kind-diagnoses.js';
export type { KindDiagnosis } from './kind-diagnosis.js';
export { renderDiagnosis, renderProblems } from './render-diagnosis.js';
