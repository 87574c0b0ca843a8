import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { Eviction, EvictionRequest, isPodFinished } from '@rollkeeper/machinery/kubernetes';
import type { ListerOf, ResourceEvent } from '@rollkeeper/runtime';
import { Pod, indexBy, watch } from '@rollkeeper/runtime';

/** Name of the index that finds requests and evictions by their pod. */
const TARGET_INDEX = 'eviction-target';

interface Targeting extends KubernetesObject {
  readonly spec?: { readonly target?: { readonly pod?: { readonly uid?: string } } };
}

function targetsOf({ metadata, spec }: DeepReadonly<Targeting>): string[] {
  const uid = spec?.target?.pod?.uid;
  return uid === undefined ? [] : [`${metadata.namespace}/${uid}`];
}

/** The indexes of requests and evictions, by `NAMESPACE/UID` of their pod. */
export const TARGET_INDEXES = [
  indexBy<EvictionRequest>(EvictionRequest, TARGET_INDEX, targetsOf),
  indexBy<Eviction>(Eviction, TARGET_INDEX, targetsOf),
];

/** The index of evictions by their pod, for responders, which do not read requests. */
export const EVICTION_INDEX = indexBy<Eviction>(Eviction, TARGET_INDEX, targetsOf);

/** The evictions of the pod that a request or an eviction is about. */
export function evictionsFor(
  object: DeepReadonly<Targeting>,
  listerOf: ListerOf,
): readonly DeepReadonly<Eviction>[] {
  return targetsOf(object).flatMap((target) => [
    ...listerOf<Eviction>(Eviction).byIndex(TARGET_INDEX, target),
  ]);
}

/** The requests for the pod that a request or an eviction is about. */
export function requestsFor(
  object: DeepReadonly<Targeting>,
  listerOf: ListerOf,
): readonly DeepReadonly<EvictionRequest>[] {
  return targetsOf(object).flatMap((target) => [
    ...listerOf<EvictionRequest>(EvictionRequest).byIndex(TARGET_INDEX, target),
  ]);
}

function evictionsOfPod({ metadata }: DeepReadonly<Pod>, listerOf: ListerOf) {
  const target = `${metadata.namespace}/${metadata.uid}`;
  return [...listerOf<Eviction>(Eviction).byIndex(TARGET_INDEX, target)].map((eviction) => eviction.metadata);
}

/** Whether a pod is being deleted, has ended, or was deleted: its evictions depend on that. */
function isEndOfPod(event: ResourceEvent<Pod>): boolean {
  if (event.type === 'added') return false;
  if (event.type === 'deleted') return true;
  const { object, old } = event;
  const began = old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp;
  return began || isPodFinished(old) !== isPodFinished(object);
}

/** Wakes the evictions of pods that end. @param delayMs the delay of a controller that lets others report first. @default 0 */
export function watchEndingPods(delayMs = 0) {
  return { ...watch<Pod>(Pod, evictionsOfPod, isEndOfPod), ...(delayMs > 0 && { urgency: { delayMs } }) };
}
