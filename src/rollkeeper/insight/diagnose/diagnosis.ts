import type { CauseCode, ExplanationState, NamedPod, Severity } from '../explain/index.js';

/**
 * The state of an object. The words of a Deployment's explanation, and `healthy` for kinds that are never complete, such
 * as nodes.
 */
export type DiagnosisState = ExplanationState | 'healthy';

/** The cause of a wait; stable words for programs. Those of pods and Deployments are in {@link CauseCode}. */
export type DiagnosisCause =
  | CauseCode
  | 'healthy'
  | 'node-pressure'
  | 'node-network'
  | 'node-cordoned'
  | 'pdb-blocks-drain'
  | 'pdb-blocks'
  | 'pdb-never-allows'
  | 'pdb-selects-nothing'
  | 'pdb-overlap'
  | 'pdb-sync-failed'
  | 'autoscaler-at-limit'
  | 'autoscaler-without-metrics'
  | 'autoscaler-target'
  | 'autoscaler-disabled'
  | 'autoscaler-overlap'
  | 'namespace-content'
  | 'namespace-finalizers'
  | 'api-group-unavailable'
  | 'webhook-unreachable'
  | 'certificate-ends'
  | 'admission'
  | 'limit-range'
  | 'ordered-ready'
  | 'ordered-update-waits'
  | 'partition'
  | 'on-delete'
  | 'service-missing'
  | 'claim-pending'
  | 'claim-lost'
  | 'claim-in-use'
  | 'claim-resizing'
  | 'no-node-selected'
  | 'misscheduled'
  | 'job-failed'
  | 'job-retrying'
  | 'job-deadline'
  | 'running'
  | 'schedule-missed'
  | 'schedule-invalid'
  | 'schedule-never'
  | 'conversion-unreachable'
  | 'definition-names'
  | 'replica-silent'
  | 'no-endpoints'
  | 'load-balancer-pending'
  | 'finalizers';

/** An object that a finding is about. */
export interface NamedObject {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** The detail that matters here. */
  readonly detail?: string;
}

/** One thing that an object waits for, or that blocks it. */
export interface DiagnosisFinding {
  readonly cause: DiagnosisCause;
  readonly severity: Severity;
  /** One sentence, without a full stop. */
  readonly summary: string;
  /** Since when, RFC 3339, where the API says so. */
  readonly since?: string;
  readonly pods?: readonly NamedPod[];
  readonly objects?: readonly NamedObject[];
  /** The ways to end the wait, one sentence each. */
  readonly unblockedBy: readonly string[];
}

/** The explanation of an object of any kind but a Deployment, which has sums and decisions besides. */
export interface Diagnosis {
  readonly kind: string;
  /** Absent: not an object of the API, such as a registry of images. */
  readonly apiVersion?: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly state: DiagnosisState;
  /** The cause of the first of `waitsFor`, or why there is none. */
  readonly cause: DiagnosisCause;
  /** The state in one sentence. */
  readonly sentence: string;
  readonly waitsFor: readonly DiagnosisFinding[];
  readonly unblockedBy: readonly string[];
  /** The things that could not be read, and so are not in it. */
  readonly notes: readonly string[];
}

/** The verdict of a kind on one of its objects. */
export interface Verdict {
  readonly findings: readonly DiagnosisFinding[];
  /** The state if nothing blocks or waits. */
  readonly good: { readonly state: DiagnosisState; readonly sentence: string };
  /** Figures before the first finding: `2 of 3 pods are ready`. */
  readonly progress?: string;
  /** The state that a blocking finding leads to. @default 'blocked' */
  readonly bad?: 'blocked' | 'degraded' | 'paused' | 'deleting';
}
