import type { Lister } from '@rollkeeper/client/informer';
import type { Amounts, DeepReadonly, Node, Pod } from '@rollkeeper/machinery/kubernetes';
import { addAmounts, isPodFinished, keyOf, requestsAllocated } from '@rollkeeper/machinery/kubernetes';
import type { NodeRoom } from './decide-resize.js';

type ReadablePod = DeepReadonly<Pod>;

/** The room that is left on nodes for pods that are resized. */
export class NodeRooms {
  /** The amounts that were granted to pods, by UID, until their own state shows it. */
  private readonly granted = new Map<string, Amounts>();

  constructor(
    private readonly nodes: Pick<Lister<Node>, 'get'>,
    private readonly pods: Pick<Lister<Pod>, 'list'>,
    /** The newest state of a pod, if that is newer than the cache's. */
    private readonly newest: { get(key: string): ReadablePod | undefined },
  ) {}

  /** Undefined for a node that is not known. */
  of(pod: ReadablePod): NodeRoom | undefined {
    const { nodeName = '' } = pod.spec;
    const allocatable = this.nodes.get(nodeName)?.status?.allocatable;
    if (!allocatable) return undefined;
    const others = this.pods
      .list()
      .filter((one) => one.spec.nodeName === nodeName && one.metadata.uid !== pod.metadata.uid)
      .map((one) => this.newest.get(keyOf(one.metadata)) ?? one)
      .filter((one) => !isPodFinished(one));
    return { allocatable, taken: addAmounts(...others.map((one) => this.allocatedTo(one))) };
  }

  /** Counts at once what is about to be written, so that others that are resized in the meantime see it. */
  grant({ metadata: { uid = '' } }: ReadablePod, requests: Amounts): void {
    this.granted.set(uid, requests);
  }

  /** From now on, the pod's own state says what it has. */
  settle(uid: string): void {
    this.granted.delete(uid);
  }

  private allocatedTo(pod: ReadablePod): Amounts {
    return this.granted.get(pod.metadata.uid ?? '') ?? requestsAllocated(pod);
  }
}
