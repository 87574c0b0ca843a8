import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, OwnerReference, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { Deployment, controllerOf, isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { isTime, readJson } from '../read-json.js';
import type { KeepOldRule } from './keep-old.js';
import { parseKeepOld, renderKeepOld } from './keep-old.js';

type ReadablePod = DeepReadonly<Pod>;

/** The only label of a pod that drains: the name of its Deployment, shortened to what a label may have. */
export const DRAINING = 'rollkeeper.dev/draining';
/** On a pod that drains: everything that its end follows from, so that no other object is needed for it. */
export const DRAIN_NOTE = 'rollkeeper.dev/drain';

const MOST_OF_LABEL = 63;

/** A pod that has left its Service, its ReplicaSet and all counts, and stays until it is empty. */
export interface DrainingPod {
  readonly rule: KeepOldRule;
  /** When it left, epoch milliseconds. */
  readonly sinceMs: number;
  /** UID of its Deployment. */
  readonly deploymentUid: string;
  /** Name of its ReplicaSet: a version of the Deployment. */
  readonly version: string;
}

/** Whether a pod may have sessions: one whose containers do not run has none. */
export function mayHaveSessions({ status }: ReadablePod): boolean {
  return (
    status?.phase === 'Running' &&
    (status.containerStatuses ?? []).every(({ ready, state }) => ready || state?.running !== undefined)
  );
}

/**
 * One merge patch by which a pod drains: without its labels no Service, ReplicaSet, budget or autoscaler has it any more,
 * and its Deployment owns it, so that it goes with the Deployment. It applies to this pod only, and to no other of its name.
 */
export function drainPatch(
  pod: ReadablePod,
  replicaSet: DeepReadonly<ReplicaSet>,
  rule: KeepOldRule,
  nowMs: number,
) {
  const { labels, ownerReferences = [], uid } = pod.metadata;
  const deployment = controllerOf(replicaSet);
  const note = {
    rule: renderKeepOld(rule),
    since: toRfc3339(nowMs),
    deployment: deployment?.uid,
    version: replicaSet.metadata.name,
    labels: labels ?? {},
  };
  const others = ownerReferences.filter((owner) => owner.uid !== replicaSet.metadata.uid);
  const owner = deployment && { ...deployment, controller: true, blockOwnerDeletion: undefined };
  const lost = Object.keys(labels ?? {}).map((key) => [key, null] as const);
  return {
    metadata: {
      uid,
      labels: { ...Object.fromEntries(lost), [DRAINING]: labelOf(deployment) },
      annotations: { [DRAIN_NOTE]: stringifyJson(note) },
      ownerReferences: owner ? [...others, owner] : others,
    },
  };
}

/**
 * How a pod drains; undefined if it does not. A pod that another object than its Deployment controls never does, even if
 * its annotations say so: they would delete pods of others.
 */
export function readDraining(pod: ReadablePod): DrainingPod | undefined {
  if (pod.metadata.labels?.[DRAINING] === undefined) return undefined;
  if (!READ.has(pod)) READ.set(pod, parseDraining(pod));
  return READ.get(pod);
}

/** Each look at a pod reads all others of its Deployment, which seldom change. */
const READ = new WeakMap<ReadablePod, DrainingPod | undefined>();

function parseDraining(pod: ReadablePod): DrainingPod | undefined {
  const { annotations } = pod.metadata;
  const note = readJson(annotations?.[DRAIN_NOTE]);
  if (!isJsonObject(note)) return undefined;
  const { deployment, rule: text, since, version } = note;
  const rule = typeof text === 'string' ? parseKeepOld(text) : undefined;
  if (!rule || !isTime(since) || typeof deployment !== 'string' || typeof version !== 'string')
    return undefined;
  const owner = controllerOf(pod);
  if (owner && (owner.uid !== deployment || owner.kind !== Deployment.kind)) return undefined;
  return { rule, sinceMs: Date.parse(since), deploymentUid: deployment, version };
}

function labelOf(deployment: DeepReadonly<OwnerReference> | undefined): string {
  let name = (deployment?.name ?? '').slice(0, MOST_OF_LABEL);
  while (name.endsWith('-') || name.endsWith('.')) name = name.slice(0, -1);
  return name;
}
