import { parseTimeMs } from '@rollkeeper/controllers/shared';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { Finding } from './explanation.js';

/** A controller that runs sees a change within moments. */
const IS_STUCK_AFTER_MS = 10_000;

interface Unobserved {
  readonly metadata: DeepReadonly<KubernetesObject['metadata']>;
  readonly observedGeneration: number | undefined;
  /** The controller that should have seen it: `Deployment controller`. */
  readonly controller: string;
  readonly nowMs: number;
  /** Whether a change of an unknown time is an old one. @default false */
  readonly isOld?: boolean | undefined;
}

/**
 * The finding that a controller has not looked at the latest change: it waits for the first ten seconds, and is stuck
 * after that. The API does not say when a generation began, but which field was changed when (`managedFields`), which
 * caches do not keep.
 */
export function unobservedFinding(unobserved: Unobserved): Finding | undefined {
  const { controller, isOld = false, metadata, nowMs, observedGeneration = 0 } = unobserved;
  const { generation = 0 } = metadata;
  if (observedGeneration >= generation) return undefined;
  const changedMs = lastChangeMs(metadata);
  const isStuck = changedMs === undefined ? isOld : nowMs - changedMs > IS_STUCK_AFTER_MS;
  return {
    cause: 'not-observed-yet',
    severity: isStuck ? 'blocked' : 'waits',
    summary: isStuck
      ? `the ${controller} has not seen generation ${generation}${changedMs === undefined ? '' : `, which is of ${toRfc3339(changedMs)}`}`
      : `the ${controller} has not seen generation ${generation} yet`,
    unblockedBy: isStuck
      ? [
          `run the ${controller}, or see in its log why it does not act: rollkeeper doctor shows whether one runs`,
        ]
      : ['its next sync'],
  };
}

interface ManagedFields {
  readonly subresource?: string;
  readonly time?: string;
}

/** The last change of anything but a subresource. */
function lastChangeMs({
  creationTimestamp,
  generation = 0,
  managedFields = [],
}: Unobserved['metadata']): number | undefined {
  const times = (managedFields as readonly ManagedFields[])
    .filter(({ subresource = '' }) => subresource === '' || subresource === 'scale')
    .flatMap(({ time }) => parseTimeMs(time) ?? []);
  if (times.length > 0) return Math.max(...times);
  return generation <= 1 ? parseTimeMs(creationTimestamp) : undefined;
}
