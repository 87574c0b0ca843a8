import type { DeepReadonly, Pod } from '../base/kubernetes/index.js';
import { isPodFinished } from '../base/kubernetes/index.js';
import type { NodeLoad } from './decide-scheduling.js';
import { requestsOf } from './decide-scheduling.js';

const NOTHING: NodeLoad = { cpu: 0, memory: 0, pods: 0 };

/** What the pods of each node take, kept up to date pod by pod, those included that are only just being bound. */
export class NodeLoads {
  private readonly placed = new Map<string, { node: string; cpu: number; memory: number }>();
  private readonly loads = new Map<string, NodeLoad>();

  of(node: string): NodeLoad {
    return this.loads.get(node) ?? NOTHING;
  }

  /** The pod is on `node`, or about to be. One that has ended takes nothing. */
  place(key: string, pod: DeepReadonly<Pod>, node: string): void {
    if (this.placed.get(key)?.node === node && !isPodFinished(pod)) return;
    this.remove(key);
    if (isPodFinished(pod)) return;
    const requests = requestsOf(pod);
    this.placed.set(key, { node, ...requests });
    this.change(node, requests.cpu, requests.memory, 1);
  }

  remove(key: string): void {
    const former = this.placed.get(key);
    if (!former) return;
    this.placed.delete(key);
    this.change(former.node, -former.cpu, -former.memory, -1);
  }

  private change(node: string, cpu: number, memory: number, pods: number): void {
    const load = this.of(node);
    this.loads.set(node, { cpu: load.cpu + cpu, memory: load.memory + memory, pods: load.pods + pods });
  }
}
