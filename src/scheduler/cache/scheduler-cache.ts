import { claimNamesOf, isPodFinished } from '@rollkeeper/machinery/kubernetes';
import type {
  NodeInfo,
  NominatedPods,
  PodInfo,
  ReadableNode,
  ReadablePod,
  Snapshot,
} from '../framework/node-info.js';
import { nodeInfoOf, withPod, withoutPod } from '../node/node-info.js';
import { podInfoOf } from '../node/pod-info.js';
import { ImageStates } from './node-indexes.js';
import { NodeOrder } from './node-indexes.js';
import { NodeSnapshot } from './node-snapshot.js';

/** How many pods on nodes use each claim. */
class ClaimUsers {
  private readonly users = new Map<string, number>();

  count(key: string): number {
    return this.users.get(key) ?? 0;
  }

  add(pod: PodInfo): void {
    for (const key of claimKeysOf(pod)) this.users.set(key, this.count(key) + 1);
  }

  remove(pod: PodInfo): void {
    for (const key of claimKeysOf(pod)) {
      const left = this.count(key) - 1;
      if (left > 0) this.users.set(key, left);
      else this.users.delete(key);
    }
  }

  entries(): ReadonlyMap<string, number> {
    return new Map(this.users);
  }
}

function claimKeysOf({ pod }: PodInfo): ReadonlySet<string> {
  if (!pod.spec.volumes) return NONE;
  return new Set(claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`));
}

const NONE: ReadonlySet<string> = new Set();

interface PlacedPod {
  readonly info: PodInfo;
  readonly node: string;
  /** Placed by a decision that the informer has not shown yet. */
  readonly isAssumed: boolean;
}

/**
 * Nodes and the pods on them, as informers report them, with the pods that decisions have placed already. The cost of a
 * snapshot depends on what has changed since the last one, not on the number of pods. Calls come from one turn at a
 * time; nothing here does I/O.
 */
export class SchedulerCache {
  private readonly nodes = new Map<string, NodeInfo>();
  private readonly pods = new Map<string, PlacedPod>();
  /** Pods on nodes that have not been seen, or no longer exist. */
  private readonly strays = new Map<string, Map<string, PodInfo>>();
  private readonly order = new NodeOrder();
  private readonly images = new ImageStates();
  private readonly users = new ClaimUsers();
  private readonly nominator = new Nominator();
  private generation = 0;
  private taken: NodeSnapshot | undefined;
  private readonly changed = new Set<string>();
  private hasOtherNodes = true;
  private haveUsersChanged = true;

  /** The nominations as they are at any time. */
  get nominated(): NominatedPods {
    return this.nominator;
  }

  setNode(node: ReadableNode): void {
    const { name } = node.metadata;
    const images = this.images.set(node);
    const before = this.nodes.get(name);
    const pods = before?.pods ?? this.strays.get(name)?.values() ?? [];
    this.put(nodeInfoOf(node, { pods, images, generation: ++this.generation }));
    if (this.order.set(node)) this.hasOtherNodes = true;
    if (before) return;
    for (const pod of this.strays.get(name)?.values() ?? []) this.addUsers(pod);
    this.strays.delete(name);
  }

  /** Pods on the node are kept until their own removal, should the node come back. */
  removeNode(name: string): void {
    const info = this.nodes.get(name);
    if (!info) return;
    this.nodes.delete(name);
    this.order.remove(name);
    this.images.remove(name);
    // Nodes may come and go for long without a pod to schedule, and so without a snapshot.
    this.changed.delete(name);
    this.hasOtherNodes = true;
    for (const pod of info.pods) {
      this.removeUsers(pod);
      this.addStray(name, pod);
    }
  }

  /**
   * Sets a pod as its informer reports it. A pod that is on no node yet changes nothing: it may have been placed since.
   * Another pod of the same name replaces the earlier one.
   */
  setPod(pod: ReadablePod): void {
    const info = podInfoOf(pod);
    const { nodeName } = pod.spec;
    if (isPodFinished(pod)) this.removePod(info.key);
    else if (nodeName) this.place(info, nodeName, false);
    else if (this.pods.get(info.key)?.info.pod.metadata.uid !== pod.metadata.uid) this.take(info.key);
  }

  /** The pod does not exist any more. */
  removePod(key: string): void {
    this.take(key);
    this.nominator.clear(key);
  }

  /** Counts the pod on the node from now on: it has been decided, and is being bound. Ends its nomination. */
  assume(pod: PodInfo, node: string): void {
    this.place(pod, node, true);
  }

  /** The binding was written: what {@link assume} placed stays until the informer reports the pod's removal. */
  confirm(key: string): void {
    const placed = this.pods.get(key);
    if (placed?.isAssumed) this.pods.set(key, { ...placed, isAssumed: false });
  }

  /** Undoes {@link assume} after a failed binding; what the informer has shown or {@link confirm} has fixed stays. */
  forget(key: string): void {
    if (this.pods.get(key)?.isAssumed) this.take(key);
  }

  /** Whether the pod counts on a node by assumption alone. */
  isAssumed(key: string): boolean {
    return this.pods.get(key)?.isAssumed ?? false;
  }

  /** Whether the pod is known to be on a node, though its informer may not have said so yet. */
  isPlaced(key: string): boolean {
    return this.pods.get(key)?.isAssumed === false;
  }

  /** Takes the place of an earlier nomination of this pod. */
  nominate(pod: PodInfo, node: string): void {
    this.nominator.nominate(pod, node);
  }

  /** The node that the pod is nominated to. */
  nominationOf(key: string): string | undefined {
    return this.nominator.nodeFor(key);
  }

  clearNomination(key: string): void {
    this.nominator.clear(key);
  }

  /** All nodes as they are now. Earlier snapshots stay as they were. */
  snapshot(): Snapshot {
    const isUnchanged = this.changed.size === 0 && !this.hasOtherNodes && !this.haveUsersChanged;
    if (this.taken && isUnchanged) return this.taken;
    const users = this.taken && !this.haveUsersChanged ? this.taken.users : this.users.entries();
    this.taken =
      this.taken && !this.hasOtherNodes
        ? this.taken.with(
            [...this.changed].flatMap((name) => this.nodes.get(name) ?? []),
            users,
          )
        : NodeSnapshot.of(
            this.order.names().flatMap((name) => this.nodes.get(name) ?? []),
            users,
          );
    this.changed.clear();
    this.hasOtherNodes = false;
    this.haveUsersChanged = false;
    return this.taken;
  }

  private place(info: PodInfo, node: string, isAssumed: boolean): void {
    this.take(info.key);
    this.nominator.clear(info.key);
    this.pods.set(info.key, { info, node, isAssumed });
    const on = this.nodes.get(node);
    if (!on) {
      this.addStray(node, info);
      return;
    }
    this.put(withPod(on, info, ++this.generation));
    this.addUsers(info);
  }

  private take(key: string): void {
    const placed = this.pods.get(key);
    if (!placed) return;
    this.pods.delete(key);
    const on = this.nodes.get(placed.node);
    if (!on) {
      const strays = this.strays.get(placed.node);
      strays?.delete(key);
      if (strays?.size === 0) this.strays.delete(placed.node);
      return;
    }
    this.put(withoutPod(on, placed.info, ++this.generation));
    this.removeUsers(placed.info);
  }

  private put(info: NodeInfo): void {
    this.nodes.set(info.name, info);
    this.changed.add(info.name);
  }

  private addStray(node: string, pod: PodInfo): void {
    const strays = this.strays.get(node);
    if (strays) strays.set(pod.key, pod);
    else this.strays.set(node, new Map([[pod.key, pod]]));
  }

  private addUsers(pod: PodInfo): void {
    if (!pod.pod.spec.volumes) return;
    this.users.add(pod);
    this.haveUsersChanged = true;
  }

  private removeUsers(pod: PodInfo): void {
    if (!pod.pod.spec.volumes) return;
    this.users.remove(pod);
    this.haveUsersChanged = true;
  }
}

const NO_PODS: readonly PodInfo[] = [];

/** The pods that are nominated to each node. */
class Nominator implements NominatedPods {
  private readonly byNode = new Map<string, readonly PodInfo[]>();
  private readonly nodeOf = new Map<string, string>();

  on(node: string): readonly PodInfo[] {
    return this.byNode.get(node) ?? NO_PODS;
  }

  /** The node that the pod is nominated to. */
  nodeFor(key: string): string | undefined {
    return this.nodeOf.get(key);
  }

  /** Replaces an earlier nomination of the same pod. */
  nominate(pod: PodInfo, node: string): void {
    this.clear(pod.key);
    this.byNode.set(node, [...this.on(node), pod]);
    this.nodeOf.set(pod.key, node);
  }

  clear(key: string): void {
    const node = this.nodeOf.get(key);
    if (node === undefined) return;
    this.nodeOf.delete(key);
    const left = this.on(node).filter((pod) => pod.key !== key);
    if (left.length > 0) this.byNode.set(node, left);
    else this.byNode.delete(node);
  }
}
