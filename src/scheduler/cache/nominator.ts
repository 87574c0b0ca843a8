import type { NominatedPods, PodInfo } from '../framework/node-info.js';

const NONE: readonly PodInfo[] = [];

/** The pods that are nominated to each node. */
export class Nominator implements NominatedPods {
  private readonly byNode = new Map<string, readonly PodInfo[]>();
  private readonly nodeOf = new Map<string, string>();

  on(node: string): readonly PodInfo[] {
    return this.byNode.get(node) ?? NONE;
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
