import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, isPodFinished } from '@rollkeeper/machinery/kubernetes';
import type { NodeLoad } from './decide-scheduling.js';
import { requestsOf } from './decide-scheduling.js';

const NOTHING: NodeLoad = { cpu: 0, memory: 0, pods: 0 };

interface PlacedPod {
  readonly node: string;
  readonly cpu: number;
  readonly memory: number;
  /** UID of its controller. */
  readonly controller: string | undefined;
}

/** The resources that the pods of each node take, updated pod by pod, including those being bound. */
export class NodeLoads {
  private readonly placed = new Map<string, PlacedPod>();
  private readonly loads = new Map<string, NodeLoad>();
  /** By controller and node, without zeros. */
  private readonly controlled = new Map<string, Map<string, number>>();

  of(node: string): NodeLoad {
    return this.loads.get(node) ?? NOTHING;
  }

  /** Number of pods on `node` with the same controller as `pod`; 0 for a pod without one. */
  siblingsOf(pod: DeepReadonly<Pod>, node: string): number {
    return this.controlled.get(controllerOf(pod)?.uid ?? '')?.get(node) ?? 0;
  }

  /** The pod is on `node`, or about to be. A finished one takes nothing. */
  place(key: string, pod: DeepReadonly<Pod>, node: string): void {
    const isSettled = this.placed.get(key)?.node === node && !hasEverChanged(pod);
    if (isSettled && !isPodFinished(pod)) return;
    this.remove(key);
    if (isPodFinished(pod)) return;
    const one = { node, ...requestsOf(pod), controller: controllerOf(pod)?.uid };
    this.placed.set(key, one);
    this.change(one, 1);
  }

  remove(key: string): void {
    const former = this.placed.get(key);
    if (!former) return;
    this.placed.delete(key);
    this.change(former, -1);
  }

  private change({ controller, cpu, memory, node }: PlacedPod, by: 1 | -1): void {
    const load = this.of(node);
    this.loads.set(node, {
      cpu: load.cpu + by * cpu,
      memory: load.memory + by * memory,
      pods: load.pods + by,
    });
    if (controller !== undefined) this.count(controller, node, by);
  }

  private count(controller: string, node: string, by: 1 | -1): void {
    const nodes = this.controlled.get(controller) ?? new Map<string, number>();
    const pods = (nodes.get(node) ?? 0) + by;
    if (pods > 0) nodes.set(node, pods);
    else nodes.delete(node);
    if (nodes.size > 0) this.controlled.set(controller, nodes);
    else this.controlled.delete(controller);
  }
}

/** Whether what the pod takes may differ from what it took at first. Most pods are never resized, and this is asked at each of their changes. */
function hasEverChanged({ metadata: { generation } }: DeepReadonly<Pod>): boolean {
  return generation !== undefined && generation > 1;
}
