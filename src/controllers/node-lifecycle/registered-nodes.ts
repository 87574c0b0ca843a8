import type { DeepReadonly, KubernetesObject, Node } from '@rollkeeper/machinery/kubernetes';
import type { EventNote } from '@rollkeeper/runtime';

interface NodeChange {
  readonly node: KubernetesObject;
  readonly event: EventNote;
}

/** The nodes that are known to a controller, and what it says of those that come and go. */
export class RegisteredNodes {
  private readonly known = new Map<string, KubernetesObject>();

  /** The next leader learns all nodes again. */
  reset(): void {
    this.known.clear();
  }

  /** @returns the Event of a node that has come, been replaced by another of its name, or been deleted */
  note(name: string, node: DeepReadonly<Node> | undefined): NodeChange | undefined {
    const before = this.known.get(name);
    if (!node) {
      this.known.delete(name);
      return before && changeOf(before, 'RemovingNode', `Removing Node ${name} from Controller`);
    }
    if (before?.metadata.uid === node.metadata.uid && before) return undefined;
    const seen: KubernetesObject = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, uid: node.metadata.uid },
    };
    this.known.set(name, seen);
    return changeOf(seen, 'RegisteredNode', `Registered Node ${name} in Controller`);
  }
}

function changeOf(node: KubernetesObject, reason: string, what: string): NodeChange {
  return { node, event: { type: 'Normal', reason, message: `Node ${node.metadata.name} event: ${what}` } };
}
