import { PREFIX } from '../common/names.js';

/** On a pod template: the digest of what admission gave new pods when it was restarted on that, so that a change of it is another template. */
export const ADMISSION_DIGEST = `${PREFIX}admission-digest`;
/** On a Deployment: its restarts on admission in the last day, as JSON: when each was, and on which parts. */
export const ADMISSION_RESTARTED = `${PREFIX}admission-restarted`;

export interface AdmissionRestartFields {
  /** Pods restart when admission gives new pods something else. @default they keep what they got */
  readonly restartOnAdmission?: boolean;
}
