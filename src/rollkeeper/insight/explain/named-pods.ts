import type { ClassifiedPod } from '@rollkeeper/controllers/shared';
import type { Finding } from './explanation.js';

/** Above this number, pods are counted, not named. */
const NAMED_PODS = 10;

/** `pod a`, `12 pods`: the names are listed beside the sentence. */
export function countOf(pods: readonly ClassifiedPod[]): string {
  return pods.length === 1 ? `pod ${pods[0]?.name}` : `${pods.length} pods`;
}

export function named(pods: readonly ClassifiedPod[]): NonNullable<Finding['pods']> {
  return pods.slice(0, NAMED_PODS).map(({ message, name, node, reason }) => ({
    ...{ name, reason },
    ...(message === undefined ? {} : { message }),
    ...(node === undefined ? {} : { node }),
  }));
}
