import { isAborted } from '@rollkeeper/machinery/cancellation';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
  Deployment,
  Pod,
  ReplicaSet,
  compareResourceVersions,
  isPodReady,
} from '@rollkeeper/machinery/kubernetes';

/** One change of the store, as a watch showed it. */
export interface HistoryEvent {
  readonly kind: 'Deployment' | 'ReplicaSet' | 'Pod';
  readonly deleted: boolean;
  readonly resourceVersion: string;
  /** Monotonic, milliseconds. */
  readonly seenAtMs: number;
  readonly object: KubernetesObject;
}

const RECORDED: readonly ResourceType[] = [Deployment, ReplicaSet, Pod];

/** Watches Deployments, ReplicaSets and pods from outside and keeps every change, in the store's order. */
export class RolloutHistory {
  private readonly recorded: HistoryEvent[] = [];
  private readonly stopper = new AbortController();
  private readonly watching: Promise<void>[] = [];

  constructor(
    private readonly client: ApiClient,
    private readonly namespace?: string,
  ) {}

  /** Resolves once every change from now on is recorded; existing objects are recorded as they are. */
  async start(): Promise<void> {
    for (const type of RECORDED) {
      const { items, resourceVersion } = await this.client.list(type, { namespace: this.namespace });
      for (const object of items) this.note(type, object, false);
      this.watching.push(this.watch(type, resourceVersion));
    }
  }

  async stop(): Promise<void> {
    this.stopper.abort(new Error('recorded enough'));
    await Promise.all(this.watching);
  }

  /** Everything seen so far, ordered by resourceVersion. */
  events(): readonly HistoryEvent[] {
    return this.recorded.toSorted(
      (a, b) => compareResourceVersions(a.resourceVersion, b.resourceVersion) ?? 0,
    );
  }

  private async watch(type: ResourceType, from: string): Promise<void> {
    let resourceVersion = from;
    const { signal } = this.stopper;
    while (!signal.aborted) {
      const options = {
        namespace: this.namespace,
        resourceVersion,
        timeoutSeconds: 300,
        idleTimeoutMs: 310_000,
        signal,
      };
      try {
        for await (const event of this.client.watch(type, options)) {
          if (event.type === 'BOOKMARK') resourceVersion = event.resourceVersion;
          else {
            resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
            this.note(type, event.object, event.type === 'DELETED');
          }
        }
      } catch {
        // The server became unavailable or we stopped. The loop continues from the last event, or ends.
        if (!isAborted(signal)) await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  private note(type: ResourceType, object: KubernetesObject, deleted: boolean): void {
    const kind = type.kind as HistoryEvent['kind'];
    const resourceVersion = object.metadata.resourceVersion ?? '0';
    this.recorded.push({ kind, deleted, resourceVersion, seenAtMs: performance.now(), object });
  }
}

/** A violation of one Deployment's limits. */
interface Violation {
  readonly resourceVersion: string;
  readonly deployment: string;
  readonly problem: string;
}

/**
 * Replays a history and checks, after every single change, that no Deployment's ReplicaSets exceed `spec.replicas` +
 * maxSurge in total, and that it never has fewer than `spec.replicas` - maxUnavailable available pods once it has had
 * that many. Scaling by the user resets the expectation.
 */
export function findViolations(events: readonly HistoryEvent[]): Violation[] {
  const replay = new Replay();
  return events.flatMap((event) => replay.apply(event));
}

class Replay {
  private readonly deployments = new Map<string, Deployment>();
  private readonly replicaSets = new Map<string, ReplicaSet>();
  private readonly pods = new Map<string, Pod>();
  /** Deployments that have reached their floor since `spec.replicas` last changed. */
  private readonly settled = new Set<string>();

  apply(event: HistoryEvent): Violation[] {
    const uid = event.object.metadata.uid ?? '';
    const store = { Deployment: this.deployments, ReplicaSet: this.replicaSets, Pod: this.pods }[
      event.kind
    ] as Map<string, KubernetesObject>;
    if (event.kind === 'Deployment') this.noteScaling(uid, event.object as Deployment);
    if (event.deleted) store.delete(uid);
    else store.set(uid, event.object);
    const deployment = this.deploymentOf(event);
    return deployment ? this.check(deployment, event.resourceVersion) : [];
  }

  private noteScaling(uid: string, next: Deployment): void {
    const before = this.deployments.get(uid);
    if (before && before.spec.replicas !== next.spec.replicas) this.settled.delete(uid);
  }

  private deploymentOf({ kind, object }: HistoryEvent): Deployment | undefined {
    if (kind === 'Deployment') return this.deployments.get(object.metadata.uid ?? '');
    const owner = object.metadata.ownerReferences?.find(({ controller }) => controller)?.uid ?? '';
    if (kind === 'ReplicaSet') return this.deployments.get(owner);
    const replicaSet = this.replicaSets.get(owner);
    return this.deployments.get(
      replicaSet?.metadata.ownerReferences?.find(({ controller }) => controller)?.uid ?? '',
    );
  }

  private check(deployment: Deployment, resourceVersion: string): Violation[] {
    const { deletionTimestamp, name, uid = '' } = deployment.metadata;
    if (deletionTimestamp || deployment.spec.strategy?.type === 'Recreate') return [];
    const owned = [...this.replicaSets.values()].filter(({ metadata }) =>
      metadata.ownerReferences?.some((reference) => reference.uid === uid),
    );
    const { ceiling, floor } = limitsOf(deployment);
    const size = owned.reduce((sum, { spec }) => sum + (spec.replicas ?? 1), 0);
    const available = this.availableOf(owned);
    const violation = (problem: string): Violation => ({ resourceVersion, deployment: name, problem });
    const found: Violation[] = [];
    if (available >= floor && size <= ceiling) this.settled.add(uid);
    else if (this.settled.has(uid)) {
      if (size > ceiling) found.push(violation(`sizes add up to ${size}, the limit is ${ceiling}`));
      if (available < floor) found.push(violation(`${available} pods available, the limit is ${floor}`));
    }
    return found;
  }

  private availableOf(owned: readonly ReplicaSet[]): number {
    const owners = new Set(owned.map(({ metadata }) => metadata.uid));
    return [...this.pods.values()].filter(
      (pod) =>
        !pod.metadata.deletionTimestamp &&
        pod.metadata.ownerReferences?.some(({ uid }) => owners.has(uid)) &&
        isPodReady(pod),
    ).length;
  }
}

function limitsOf({ spec }: Deployment): { ceiling: number; floor: number } {
  const wanted = spec.replicas ?? 1;
  const { maxSurge = '25%', maxUnavailable = '25%' } = spec.strategy?.rollingUpdate ?? {};
  const surge = amountOf(maxSurge, wanted, Math.ceil);
  const unavailable = amountOf(maxUnavailable, wanted, Math.floor);
  return { ceiling: wanted + surge, floor: wanted - (surge === 0 && unavailable === 0 ? 1 : unavailable) };
}

function amountOf(value: number | string, wanted: number, round: (amount: number) => number): number {
  return typeof value === 'number' ? value : round((Number.parseFloat(value) / 100) * wanted);
}
