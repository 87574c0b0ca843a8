import { isPodFinished, isPodReady, isTerminating } from '@rollkeeper/machinery/kubernetes';
import type { DaemonSet } from '@rollkeeper/runtime';
import {
  REVISION_LABEL,
  isPodAvailable,
  msUntilPodAvailable,
  parseTimeMs,
  scaledValue,
} from '../shared/index.js';
import type { NodeFit, ReadableNode, ReadablePod, ReadableSet } from './daemon-pod.js';
import { fitOf, targetNodeOf } from './daemon-pod.js';

/** A DaemonSet, its pods and the nodes as one sync sees them. */
export interface DaemonView {
  readonly set: ReadableSet;
  /** The hash of the current template. */
  readonly hash: string;
  readonly places: readonly Place[];
  readonly nowMs: number;
}

/** A node, possibly deleted, and the set's pods on it, oldest first. */
interface Place extends NodeFit {
  readonly node: string;
  readonly pods: readonly ReadablePod[];
}

/** The work of a DaemonSet on its pods now. */
export interface DaemonDecision {
  /** Names of nodes that get a pod. */
  readonly create: readonly string[];
  readonly delete: readonly ReadablePod[];
  /** Pods that have ended. */
  readonly ended: readonly ReadablePod[];
}

type Status = NonNullable<DaemonSet['status']>;

export function viewDaemons(
  set: ReadableSet,
  pods: readonly ReadablePod[],
  nodes: readonly ReadableNode[],
  hash: string,
  nowMs: number,
): DaemonView {
  const byNode = new Map<string, ReadablePod[]>();
  for (const pod of pods) {
    const node = targetNodeOf(pod);
    // The pod garbage collector handles pods without a node.
    if (node !== undefined) byNode.set(node, [...(byNode.get(node) ?? []), pod]);
  }
  for (const each of byNode.values()) each.sort(oldestFirst);
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  const gone = [...byNode.keys()].filter((node) => !known.has(node));
  const places = [
    ...nodes.map((node): Place => {
      const { name } = node.metadata;
      return { node: name, pods: byNode.get(name) ?? [], ...fitOf(set, node) };
    }),
    ...gone.map((node): Place => ({ node, pods: byNode.get(node) ?? [], shouldRun: false, mayStay: false })),
  ];
  return { set, hash, places, nowMs };
}

/**
 * Ensures a pod on every node that should have one, and none on others; once that is so, makes a step of the rollout.
 * Source: `manage` and `rollingUpdate` in k/k pkg/controller/daemon.
 */
export function decideDaemons(view: DaemonView): DaemonDecision {
  const places = view.places.map((place) => decidePlace(place, view));
  const create = places.flatMap(({ creates, node }) => (creates ? [node] : []));
  const doomed = places.flatMap((place) => place.delete);
  if (create.length + doomed.length > 0 || view.set.spec.updateStrategy?.type === 'OnDelete')
    return { create, delete: doomed, ended: doomed.filter((pod) => isPodFinished(pod)) };
  return { ended: [], ...(maxSurgeOf(view) === 0 ? replaceInPlace(view) : replaceBySurge(view)) };
}

interface PlaceDecision {
  readonly node: string;
  readonly creates: boolean;
  readonly delete: readonly ReadablePod[];
}

function decidePlace({ mayStay, node, pods, shouldRun }: Place, view: DaemonView): PlaceDecision {
  if (shouldRun && pods.length === 0) return { node, creates: true, delete: [] };
  const living = pods.filter((pod) => !isTerminating(pod));
  if (!mayStay) return { node, creates: false, delete: living };
  const ended = living.filter((pod) => isPodFinished(pod));
  const running = living.filter((pod) => !isPodFinished(pod));
  const surplus = maxSurgeOf(view) === 0 ? running.slice(1) : surplusOfSurge(running, view);
  return { node, creates: false, delete: [...ended, ...surplus] };
}

/** One old and one new pod may coexist; the old one is deleted when it is no longer needed. */
function surplusOfSurge(running: readonly ReadablePod[], view: DaemonView): readonly ReadablePod[] {
  const [now, ...moreNew] = running.filter((pod) => isUpdated(pod, view));
  const [old, ...moreOld] = running.filter((pod) => !isUpdated(pod, view));
  const isReplaced = now && old && (!isPodReady(old) || isAvailable(now, view));
  return [...moreNew, ...moreOld, ...(isReplaced ? [old] : [])];
}

/** Deletes old pods so that they are replaced; unavailable ones first. */
function replaceInPlace(view: DaemonView): Pick<DaemonDecision, 'create' | 'delete'> {
  const useless: ReadablePod[] = [];
  const candidates: ReadablePod[] = [];
  let unavailable = 0;
  for (const { now, old } of currentPods(view)) {
    if (now || !old) {
      if (!now || old || !isAvailable(now, view)) unavailable++;
    } else if (isAvailable(old, view)) candidates.push(old);
    else {
      useless.push(old);
      unavailable++;
    }
  }
  const more = Math.max(maxUnavailableOf(view) - unavailable, 0);
  return { create: [], delete: [...useless, ...candidates.slice(0, more)] };
}

/** Creates new pods beside the old ones. */
function replaceBySurge(view: DaemonView): Pick<DaemonDecision, 'create' | 'delete'> {
  const urgent: string[] = [];
  const candidates: string[] = [];
  let surging = 0;
  for (const { node, now, old } of currentPods(view)) {
    if (!old) continue;
    if (now) surging++;
    else (isAvailable(old, view) ? candidates : urgent).push(node);
  }
  const more = Math.max(maxSurgeOf(view) - surging, 0);
  return { create: [...urgent, ...candidates.slice(0, more)], delete: [] };
}

/** For each node that should have a pod: the pods of the current and of a former template. */
function currentPods(view: DaemonView) {
  return view.places
    .filter(({ shouldRun }) => shouldRun)
    .map(({ node, pods }) => {
      const living = pods.filter((pod) => !isTerminating(pod));
      return {
        node,
        now: living.find((pod) => isUpdated(pod, view)),
        old: living.find((pod) => !isUpdated(pod, view)),
      };
    });
}

export function decideStatus(view: DaemonView, collisionCount: number): Status {
  const { places, set } = view;
  const wanted = places.filter(({ shouldRun }) => shouldRun);
  const first = wanted.flatMap(({ pods }) => pods.slice(0, 1));
  const numberAvailable = first.filter((pod) => isAvailable(pod, view)).length;
  const updatedNumberScheduled = first.filter((pod) => isUpdated(pod, view)).length;
  const numberUnavailable = wanted.length - numberAvailable;
  return {
    desiredNumberScheduled: wanted.length,
    currentNumberScheduled: first.length,
    numberMisscheduled: places.filter(({ pods, shouldRun }) => !shouldRun && pods.length > 0).length,
    numberReady: first.filter((pod) => isPodReady(pod)).length,
    ...(updatedNumberScheduled > 0 && { updatedNumberScheduled }),
    ...(numberAvailable > 0 && { numberAvailable }),
    ...(numberUnavailable > 0 && { numberUnavailable }),
    observedGeneration: set.metadata.generation ?? 0,
    ...(collisionCount > 0 && { collisionCount }),
  };
}

/** Delay until the next pod has been ready for `minReadySeconds`. */
export function msUntilNextAvailable({ nowMs, places, set }: DaemonView): number | undefined {
  const { minReadySeconds = 0 } = set.spec;
  if (minReadySeconds === 0) return undefined;
  const waits = places
    .flatMap(({ pods }) => pods)
    .map((pod) => msUntilPodAvailable(pod, minReadySeconds, nowMs) ?? 0)
    .filter((wait) => wait > 0);
  return waits.length > 0 ? Math.min(...waits) : undefined;
}

function maxSurgeOf(view: DaemonView): number {
  return share(view, view.set.spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0, 'maxSurge');
}

/** At least one, if no surge is allowed. */
function maxUnavailableOf(view: DaemonView): number {
  const { maxUnavailable = 1 } = view.set.spec.updateStrategy?.rollingUpdate ?? {};
  return Math.max(share(view, maxUnavailable, 'maxUnavailable'), 1);
}

function share({ places }: DaemonView, value: string | number, field: string): number {
  return scaledValue(value, places.filter(({ shouldRun }) => shouldRun).length, Math.ceil, field);
}

function isUpdated({ metadata }: ReadablePod, { hash }: DaemonView): boolean {
  return metadata.labels?.[REVISION_LABEL] === hash;
}

function isAvailable(pod: ReadablePod, { nowMs, set }: DaemonView): boolean {
  return isPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs);
}

/** Pods bound to their node come first. */
function oldestFirst(a: ReadablePod, b: ReadablePod): number {
  const assigned = Number(Boolean(b.spec.nodeName)) - Number(Boolean(a.spec.nodeName));
  const created = ({ metadata }: ReadablePod): number => parseTimeMs(metadata.creationTimestamp) ?? 0;
  return assigned || created(a) - created(b) || a.metadata.name.localeCompare(b.metadata.name);
}
