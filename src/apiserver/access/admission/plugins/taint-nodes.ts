import type { DecodedObject, Node } from '@rollkeeper/machinery/kubernetes';

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;

/**
 * Keeps pods from a node that has just been registered, until its controller finds it ready. Source: the plug-in
 * TaintNodesByCondition. One that says itself that it is ready is taken at its word here, so that simulated nodes need no
 * controller.
 */
export function taintNewNode(node: DecodedObject<Node>): void {
  const isReady = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  if (isReady) return;
  const spec = (node.spec ??= {});
  const has = spec.taints?.some(({ effect, key }) => key === NOT_READY.key && effect === NOT_READY.effect);
  if (!has) spec.taints = [...(spec.taints ?? []), { ...NOT_READY }];
}
