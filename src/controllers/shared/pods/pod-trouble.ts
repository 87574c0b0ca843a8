import type { ClassifiedPod, PodState } from './classify-pod.js';
import { byPodName } from './classify-pod.js';
import { shortenedTo } from './shortened.js';

/** The states that waiting does not resolve, in the order in which a person should look at them. */
export const POD_TROUBLES = [
  'image',
  'crash',
  'config',
  'unschedulable',
  'rejected',
  'unready',
] as const satisfies readonly PodState[];

export type TroubleState = (typeof POD_TROUBLES)[number];

/** Pods in the same state. */
export interface PodTrouble {
  readonly state: TroubleState;
  /** By name, so that every replica names the same one first. */
  readonly pods: readonly [ClassifiedPod, ...ClassifiedPod[]];
}

/** The most urgent state among these pods; undefined if each is healthy, starting or ending. */
export function worstTrouble(pods: readonly ClassifiedPod[]): PodTrouble | undefined {
  for (const state of POD_TROUBLES) {
    const [first, ...others] = pods.filter((pod) => pod.state === state).sort(byPodName);
    if (first) return { state, pods: [first, ...others] };
  }
  return undefined;
}

/** Kubelets quote registries, and admission quotes policies: either can be a page long. Characters. */
const LONGEST_MESSAGE = 512;
const LONGEST_REASON = 64;

/**
 * The API's own reason and message: `ImagePullBackOff (Back-off pulling image "web:2")`. One line, at most 600
 * characters.
 */
export function describeReason({ message, reason }: Pick<ClassifiedPod, 'message' | 'reason'>): string {
  const why = oneLine(reason, LONGEST_REASON);
  const detail = oneLine(message ?? '', LONGEST_MESSAGE);
  return detail === '' ? why : `${why} (${detail})`;
}

function oneLine(text: string, longest: number): string {
  return shortenedTo(longest, text.replaceAll(/\s+/g, ' ').trim());
}
