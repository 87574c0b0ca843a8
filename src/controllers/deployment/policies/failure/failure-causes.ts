import type { TroubleState } from '../../../shared/index.js';

/** Why new pods do not become available, in the words of `rollkeeper explain`. */
export const FAILURE_CAUSES = [
  'image-pull',
  'crash-loop',
  'container-config',
  'not-ready',
  'starting',
  'pod-create-error',
  'unschedulable',
  'rejected-by-node',
  'node-not-ready',
  'quota',
] as const;
export type FailureCause = (typeof FAILURE_CAUSES)[number];

export const CAUSE_OF_TROUBLE: Readonly<Record<TroubleState, FailureCause>> = {
  image: 'image-pull',
  crash: 'crash-loop',
  config: 'container-config',
  unschedulable: 'unschedulable',
  rejected: 'rejected-by-node',
  unready: 'not-ready',
};

/**
 * The failures of which the version itself is most likely the cause. A full cluster, a lost node or a quota would hold
 * an earlier one up as well.
 */
export const VERSIONS_OWN: ReadonlySet<FailureCause> = new Set([
  'image-pull',
  'crash-loop',
  'container-config',
  'not-ready',
  'starting',
  'pod-create-error',
]);

/** `all`, or a list of causes with commas between; `undefined` for a word that is none. */
export function parseFailureCauses(text: string): ReadonlySet<FailureCause> | undefined {
  if (text === 'all') return new Set(FAILURE_CAUSES);
  const words = text.split(',').map((word) => word.trim());
  const causes = words.flatMap((word) => FAILURE_CAUSES.find((cause) => cause === word) ?? []);
  return causes.length === words.length ? new Set(causes) : undefined;
}
