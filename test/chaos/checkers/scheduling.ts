import type { Node, Pod } from '../../../src/machinery/kubernetes/index.js';
import {
  addAmounts,
  isPodFinished,
  nanosOf,
  requestsAllocated,
} from '../../../src/machinery/kubernetes/index.js';
import type { Amounts } from '../../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../history.js';
import type { Violation } from './violation.js';

/** The resources that a pod takes of its node. */
interface Taken {
  readonly node: string;
  readonly amounts: Amounts;
}

/**
 * (g) At every revision: no pod has been on two nodes, and the pods that a node has do not take more of it than it has. A pod
 * takes what it does from its binding until it has ended or is gone. What it takes may change later, by a resize that its node
 * grants, so only bindings are judged.
 */
export class SchedulingChecker {
  private readonly nodes = new Map<string, Amounts>();
  private readonly taken = new Map<string, Taken>();
  /** Bindings that were judged. */
  bindings = 0;

  /** Learns the capacity of the nodes. Without it, capacity is not judged. */
  know(nodes: readonly Node[]): void {
    for (const { metadata, status } of nodes) this.nodes.set(metadata.name, status?.allocatable ?? {});
  }

  check({ deleted, kind, object, resourceVersion }: HistoryEvent): Violation[] {
    if (kind !== 'Pod') return [];
    const pod = object as Pod;
    const { name, uid = '' } = pod.metadata;
    const before = this.taken.get(uid);
    const { nodeName } = pod.spec;
    const found = (problem: string): Violation => ({
      check: 'bindings',
      subject: name,
      problem: `${problem} (revision ${resourceVersion})`,
    });
    if (before && nodeName !== before.node) return [found(`was on ${before.node}, and is on ${nodeName}`)];
    if (deleted) {
      this.taken.delete(uid);
      return [];
    }
    if (!nodeName) return [];
    // A pod that has ended stays known, so that it is not bound again.
    const amounts = isPodFinished(pod) ? {} : addAmounts(requestsAllocated(pod), { pods: '1' });
    this.taken.set(uid, { node: nodeName, amounts });
    if (before) return [];
    this.bindings += 1;
    return this.excess(nodeName).map((problem) => found(problem));
  }

  private excess(node: string): readonly string[] {
    const all = [...this.taken.values()].filter((each) => each.node === node).map(({ amounts }) => amounts);
    const sum = addAmounts(...all);
    return Object.entries(this.nodes.get(node) ?? {})
      .filter(([name, capacity]) => nanosOf(sum[name]) > nanosOf(capacity))
      .map(([name, capacity]) => `${node} has ${sum[name]} of ${name} taken, of ${capacity}`);
  }
}
