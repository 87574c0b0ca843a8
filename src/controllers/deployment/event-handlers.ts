import type { Enqueue, EnqueueRequest, Informer, ResourceEvent } from '@rollkeeper/runtime';
import { OWNER_UID_INDEX } from '@rollkeeper/runtime';
import type {
  DeepReadonly,
  Deployment,
  KubernetesObject,
  OwnerReference,
  Pod,
  ReplicaSet,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import {
  DEPLOYMENTS,
  PODS,
  REPLICA_SETS,
  controllerOf,
  keyOf,
  semanticEqual,
  tryCompileLabelSelector,
} from '@rollkeeper/machinery/kubernetes';
import { TRACE_ANNOTATION } from '@rollkeeper/machinery/trace-context';
import type { CompiledChangeWaits } from '../shared/index.js';
import { SELECTOR_INDEX, selectorIndexValuesFor } from '../shared/index.js';
import { REVISION } from './annotations.js';
import { typeOfDeployment } from './deployment-api.js';

export interface WatchedInformers {
  readonly deployments: Informer<Deployment>;
  readonly replicaSets: Informer<ReplicaSet>;
  readonly pods: Informer<Pod>;
}

/** Turns changes of Deployments, ReplicaSets and pods into keys of Deployments. No change that matters is missed. */
export class DeploymentEventHandlers {
  constructor(
    private readonly informers: WatchedInformers,
    private readonly waits: CompiledChangeWaits,
  ) {}

  /** Returns the unsubscribe. */
  watch(enqueue: Enqueue): () => void {
    const { deployments, replicaSets, pods } = this.informers;
    const removals = [
      deployments.addEventHandler((event) => this.onDeployment(event, enqueue)),
      replicaSets.addEventHandler((event) => this.onReplicaSet(event, enqueue)),
      pods.addEventHandler((event) => this.onPod(event, enqueue)),
    ];
    return () => removals.forEach((remove) => remove());
  }

  private onDeployment(event: ResourceEvent<Deployment>, enqueue: Enqueue): void {
    if (event.type === 'modified' && isCountedCollision(event.old, event.object)) return;
    enqueue({ ...target(event.object, typeOfDeployment(event.object), event), ...this.urgency(event) });
  }

  private urgency(event: ResourceEvent<Deployment>): Partial<EnqueueRequest> {
    if (event.type === 'added' && event.initial) {
      // What changed while nobody led, or just before, does not wait for all that did not.
      return { priority: isDeploymentDue(event.object) ? 'normal' : 'low', reason: 'initial-list' };
    }
    if (event.type === 'modified' && !isWantedChange(event.old, event.object)) {
      return { priority: 'low', reason: 'resync', delayMs: this.waits.countMs, onlyIfNeeded: true };
    }
    return { priority: 'high', reason: 'user-change' };
  }

  private onReplicaSet(event: ResourceEvent<ReplicaSet>, enqueue: Enqueue): void {
    // The Deployments of what is there already come with their own initial list.
    if (event.type === 'added' && event.initial) return;
    const { object } = event;
    for (const deployment of this.deploymentsOf(object)) this.enqueueChild(deployment, event, enqueue);
    if (event.type !== 'modified') return;
    const before = controllerOf(event.old);
    if (before && before.uid !== controllerOf(object)?.uid) {
      const previous = this.ownerOf(event.old, before);
      if (previous) this.enqueueChild(previous, event, enqueue);
    }
  }

  private enqueueChild(
    deployment: DeepReadonly<Deployment>,
    event: ResourceEvent<ReplicaSet>,
    enqueue: Enqueue,
  ): void {
    enqueue({
      ...target(deployment, REPLICA_SETS, event),
      reason: 'child-change',
      delayMs: this.delayFor(event, deployment),
    });
  }

  private delayFor(event: ResourceEvent<ReplicaSet>, deployment: DeepReadonly<Deployment>): number {
    const { burstMs, waveMs, countMs } = this.waits;
    if (event.type === 'deleted') return 0;
    if (event.type === 'added' || hasOnlyBeenAsked(event.old, event.object)) return waveMs;
    if (onlyPodsEnded(event.old, event.object)) return countMs;
    if (!hasAllAvailable(event.object)) return burstMs;
    return this.isWithinWave(event, deployment) ? waveMs : 0;
  }

  /** Whether a ReplicaSet has only shrunk, while another one grows: the next step is for that one's pods to allow. */
  private isWithinWave(event: ResourceEvent<ReplicaSet>, deployment: DeepReadonly<Deployment>): boolean {
    if (event.type !== 'modified' || deployment.spec.strategy?.type === 'Recreate') return false;
    if (available(event.object) >= available(event.old)) return false;
    const { uid } = event.object.metadata;
    return this.informers.replicaSets.lister
      .byIndex(OWNER_UID_INDEX, deployment.metadata.uid ?? '')
      .some((sibling) => sibling.metadata.uid !== uid && (sibling.spec.replicas ?? 1) > available(sibling));
  }

  /** A Recreate goes on when the last pod of an old ReplicaSet is gone. */
  private onPod(event: ResourceEvent<Pod>, enqueue: Enqueue): void {
    if (event.type !== 'deleted') return;
    const owner = controllerOf(event.object);
    if (owner?.kind !== REPLICA_SETS.kind) return;
    const { namespace } = event.object.metadata;
    const replicaSet = this.informers.replicaSets.lister.get(keyOf({ namespace, name: owner.name }));
    if (!replicaSet || replicaSet.metadata.uid !== owner.uid) return;
    if (this.informers.pods.lister.byIndex(OWNER_UID_INDEX, owner.uid).length > 0) return;
    for (const deployment of this.deploymentsOf(replicaSet)) {
      if (deployment.spec.strategy?.type !== 'Recreate') continue;
      enqueue({
        ...target(deployment, PODS, event),
        reason: 'child-change',
        delayMs: this.waits.burstMs,
      });
    }
  }

  /** The Deployment that controls it, or those that might adopt it. */
  private deploymentsOf(replicaSet: DeepReadonly<ReplicaSet>): readonly DeepReadonly<Deployment>[] {
    const owner = controllerOf(replicaSet);
    if (!owner) return this.adopters(replicaSet);
    const deployment = this.ownerOf(replicaSet, owner);
    return deployment ? [deployment] : [];
  }

  private ownerOf(
    child: DeepReadonly<KubernetesObject>,
    owner: DeepReadonly<OwnerReference>,
  ): DeepReadonly<Deployment> | undefined {
    if (owner.kind !== DEPLOYMENTS.kind) return undefined;
    const { namespace } = child.metadata;
    const deployment = this.informers.deployments.lister.get(keyOf({ namespace, name: owner.name }));
    return deployment?.metadata.uid === owner.uid ? deployment : undefined;
  }

  private adopters(orphan: DeepReadonly<ReplicaSet>): DeepReadonly<Deployment>[] {
    const { lister } = this.informers.deployments;
    return selectorIndexValuesFor(orphan)
      .flatMap((value) => lister.byIndex(SELECTOR_INDEX, value))
      .filter((deployment) => tryCompileLabelSelector(deployment.spec.selector)?.(orphan.metadata.labels));
  }
}

function target(
  deployment: DeepReadonly<Deployment>,
  type: ResourceType,
  change: ResourceEvent<KubernetesObject>,
): Pick<EnqueueRequest, 'ref' | 'cause' | 'change'> {
  const { namespace, name } = deployment.metadata;
  const { resourceVersion } = change.object.metadata;
  return {
    ref: { namespace, name },
    change,
    cause: resourceVersion === undefined ? undefined : { type, resourceVersion },
  };
}

/** Whether somebody asks for something else than before; our own writes change only the status and the revision. */
function isWantedChange(old: DeepReadonly<Deployment>, object: DeepReadonly<Deployment>): boolean {
  if (old.metadata.generation !== object.metadata.generation) return true;
  return !semanticEqual(wanted(old), wanted(object));
}

/**
 * Whether all that happened is that a pass of ours counted a collision. That pass comes back by itself, after a backoff
 * if need be; woken by its own write, it would come back at once, for as long as the names are taken.
 */
function isCountedCollision(old: DeepReadonly<Deployment>, object: DeepReadonly<Deployment>): boolean {
  const [before = 0, now = 0] = [old.status?.collisionCount, object.status?.collisionCount];
  return now > before && !isWantedChange(old, object);
}

function wanted({ metadata }: DeepReadonly<Deployment>): unknown {
  const { [REVISION]: _revision, ...annotations } = annotationsOf({ metadata });
  const { labels, deletionTimestamp, finalizers, ownerReferences } = metadata;
  return { annotations, labels, deletionTimestamp, finalizers, ownerReferences };
}

/** Without the one that every traced write leaves. */
function annotationsOf({
  metadata,
}: Pick<DeepReadonly<KubernetesObject>, 'metadata'>): Record<string, string> {
  const { [TRACE_ANNOTATION]: _trace, ...annotations } = metadata.annotations ?? {};
  return annotations;
}

/** Whether the ReplicaSet has the size that it was given, with every pod available. */
function hasAllAvailable({ metadata, spec, status }: DeepReadonly<ReplicaSet>): boolean {
  const wanted = spec.replicas ?? 1;
  return (
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
    (status?.replicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) === wanted
  );
}

function available({ status }: DeepReadonly<ReplicaSet>): number {
  return status?.availableReplicas ?? 0;
}

const ASKED_METADATA = ['deletionTimestamp', 'generation', 'labels', 'ownerReferences'] as const;

/** Its size, say, is another one now, and its status does not tell of it yet: what follows, follows from its status. */
function hasOnlyBeenAsked(old: DeepReadonly<ReplicaSet>, replicaSet: DeepReadonly<ReplicaSet>): boolean {
  return (
    semanticEqual(old.status, replicaSet.status) && controllerOf(old)?.uid === controllerOf(replicaSet)?.uid
  );
}

/** Pods that had stopped counting are gone: nothing follows but a number in our status. */
function onlyPodsEnded(old: DeepReadonly<ReplicaSet>, replicaSet: DeepReadonly<ReplicaSet>): boolean {
  const { terminatingReplicas: before, ...was } = old.status ?? { replicas: 0 };
  const { terminatingReplicas: after, ...is } = replicaSet.status ?? { replicas: 0 };
  const sameMetadata =
    ASKED_METADATA.every((field) => semanticEqual(old.metadata[field], replicaSet.metadata[field])) &&
    semanticEqual(annotationsOf(old), annotationsOf(replicaSet));
  return before !== after && sameMetadata && semanticEqual(was, is);
}

/** Every sync, whatever it comes to, notes the generation that it saw. */
export function isDeploymentDue({ metadata, status }: DeepReadonly<Deployment>): boolean {
  return (
    metadata.deletionTimestamp === undefined && (status?.observedGeneration ?? 0) < (metadata.generation ?? 0)
  );
}
