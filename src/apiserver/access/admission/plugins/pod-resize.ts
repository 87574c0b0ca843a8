import type { Amount, DecodedObject, Node, Pod } from '@rollkeeper/machinery/kubernetes';
import { NANOS, nanosOf, objectOfKind, totalOfPod } from '@rollkeeper/machinery/kubernetes';
import { refused } from '../attributes.js';
import type { WriteAttributes } from '../attributes.js';

const OS_LABEL = 'kubernetes.io/os';

/**
 * Refuses a resize that the pod's node can never carry out, before the node has to say so. Source:
 * plugin/pkg/admission/podresize.
 * @throws StatusError 403
 */
export function checkRoomForResize(
  attributes: WriteAttributes,
  nodeNamed: (name: string) => DecodedObject<Node> | Readonly<Node> | undefined,
): void {
  const { object, oldObject } = attributes;
  const pod: Pod = objectOfKind(object);
  const { nodeName } = pod.spec;
  if (!nodeName || object.metadata.generation === oldObject?.metadata.generation) return;
  const node = nodeNamed(nodeName);
  if (!node) throw refused(attributes, `node ${JSON.stringify(nodeName)} not found`);
  const { cpu, memory } = node.status?.allocatable ?? {};
  const wanted = totalOfPod(pod.spec, 'requests');
  const lacking = [
    ...shortage('cpu', milliOf(wanted['cpu']), milliOf(cpu)),
    ...shortage('memory', wholeOf(wanted['memory']), wholeOf(memory)),
  ];
  if (lacking.length > 0) {
    const problem = `Node didn't have enough allocatable resources: ${lacking.join('; ')}`;
    throw refused(attributes, problem, [{ reason: 'NodeCapacity' }]);
  }
  const os = node.metadata.labels?.[OS_LABEL];
  if (os === 'linux') return;
  const problem = `pod resize is only supported on linux nodes, node ${JSON.stringify(nodeName)} is ${JSON.stringify(os ?? '')}`;
  throw refused(attributes, problem, [{ reason: 'UnsupportedPlatform' }]);
}

function shortage(name: string, requested: bigint, allocatable: bigint): string[] {
  return requested > allocatable ? [`${name}, requested: ${requested}, allocatable: ${allocatable}`] : [];
}

/** In thousandths, rounded up. */
function milliOf(amount: Amount | undefined): bigint {
  return roundedUp(nanosOf(amount), NANOS / 1000n);
}

function wholeOf(amount: Amount | undefined): bigint {
  return roundedUp(nanosOf(amount), NANOS);
}

function roundedUp(nanos: bigint, unit: bigint): bigint {
  return (nanos + unit - 1n) / unit;
}
