import { controlledBy, ownedBy } from '@rollkeeper/client/informer';
import type { DeepReadonly, KubernetesObject, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, keyOf } from '@rollkeeper/machinery/kubernetes';
import type { AdminPorts, DeploymentCaches, SetCaches } from './admin-ports.js';
import type { DeploymentSummary } from './console-summary.js';
import { summarize } from './console-summary.js';
import type { ExplainSource } from './explain-source.js';

/** The rows of the rollouts of one kind, from the caches of this replica. */
export interface RowSource {
  /** The objects that may have a row. */
  list(): readonly DeepReadonly<KubernetesObject>[];
  /** The key of the row of an object. */
  rowKey(key: string): string;
  /** Undefined: the object was deleted, or has no row. */
  rowOf(key: string, nowMs: number): DeploymentSummary | undefined;
  /** Calls `changed` with the key of each object whose row may be different, from now on. Returns a function that ends that. */
  follow(changed: (key: string) => void): () => void;
}

/** Deployments, and the sets whose rollouts a controller leads. */
export function rowSources(
  ports: Pick<AdminPorts, 'caches' | 'sets'>,
  source: ExplainSource,
): readonly RowSource[] {
  return [
    ...ports.caches().map((caches) => deploymentRows(caches, source)),
    ...(ports.sets?.() ?? []).map((caches) => setRows(caches, source)),
  ];
}

function deploymentRows(caches: DeploymentCaches, source: ExplainSource): RowSource {
  const { apiVersion, controller, deployments, pods, replicaSets } = caches;
  const rowKey = (key: string): string => (apiVersion === 'apps/v1' ? key : `${key}?api=${apiVersion}`);
  return {
    rowKey,
    list: () => deployments.lister.list(),
    rowOf: (key, nowMs) => {
      const deployment = deployments.lister.get(key);
      if (!deployment) return undefined;
      const { metadata } = deployment;
      const explanation = source.glance(caches, deployment);
      const owned = new Map(
        controlledBy(replicaSets.lister, deployment).map((replicaSet) => [
          replicaSet.metadata.name,
          ownedBy(pods.lister, replicaSet),
        ]),
      );
      return summarize({ key: rowKey(key), controller, metadata, explanation, pods: owned }, nowMs);
    },
    follow: (changed) => {
      const ofReplicaSet = (replicaSet: DeepReadonly<ReplicaSet> | undefined): void => {
        const owner = replicaSet && controllerOf(replicaSet);
        if (owner?.kind === 'Deployment' && owner.apiVersion === apiVersion)
          changed(keyOf({ namespace: replicaSet?.metadata.namespace, name: owner.name }));
      };
      const ofPod = (pod: DeepReadonly<KubernetesObject>): void => {
        const owner = controllerOf(pod);
        if (owner?.kind === 'ReplicaSet')
          ofReplicaSet(
            replicaSets.lister.get(keyOf({ namespace: pod.metadata.namespace, name: owner.name })),
          );
      };
      return fromNowOn((isNow) => [
        deployments.addEventHandler(({ object }) => isNow() && changed(keyOf(object.metadata))),
        replicaSets.addEventHandler(({ object }) => isNow() && ofReplicaSet(object)),
        pods.addEventHandler(({ object }) => isNow() && ofPod(object)),
      ]);
    },
  };
}

function setRows(caches: SetCaches, source: ExplainSource): RowSource {
  const { controller, kind, pods, revisions, sets } = caches;
  const rowKey = (key: string): string => `${key}?kind=${kind}`;
  return {
    rowKey,
    list: () => sets.lister.list(),
    rowOf: (key, nowMs) => {
      const rollout = source.setRollout(caches, key);
      if (!rollout) return undefined;
      const { metadata } = rollout.deployment;
      const explanation = source.glanceSet(caches, rollout);
      const owned = Map.groupBy(rollout.pods, (pod) => controllerOf(pod)?.name ?? '');
      return summarize({ key: rowKey(key), controller, kind, metadata, explanation, pods: owned }, nowMs);
    },
    follow: (changed) => {
      const ofPart = ({ metadata }: DeepReadonly<KubernetesObject>): void => {
        const owner = controllerOf({ metadata });
        if (owner?.kind === kind) changed(keyOf({ namespace: metadata.namespace, name: owner.name }));
      };
      return fromNowOn((isNow) => [
        sets.addEventHandler(({ object }) => isNow() && changed(keyOf(object.metadata))),
        revisions.addEventHandler(({ object }) => isNow() && ofPart(object)),
        pods.addEventHandler(({ object }) => isNow() && ofPart(object)),
      ]);
    },
  };
}

/** Handlers that leave out what there is when they are added. */
function fromNowOn(add: (isNow: () => boolean) => readonly (() => void)[]): () => void {
  let isNow = false;
  const removals = add(() => isNow);
  isNow = true;
  return () => removals.forEach((remove) => remove());
}
