import type { DecodedObject, Node } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { refused } from '../attributes.js';
import type { NodeRequest } from './node-request.js';

type Labels = Readonly<Record<string, string>>;

/** The labels that kubelets set on their nodes. Source: k8s.io/kubelet/pkg/apis/well_known_labels.go. */
const OWN_LABELS: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);
const OWN_PREFIXES = ['kubelet.kubernetes.io', 'node.kubernetes.io'];

/**
 * A node says nothing of itself that would draw others' pods to it.
 * @throws StatusError 403
 */
export function checkNode({ attributes, node }: NodeRequest): void {
  const { name, object, oldObject, operation } = attributes;
  const asked = name || object?.metadata.name;
  if (asked !== node) throw refused(attributes, `node "${node}" is not allowed to modify node "${asked}"`);
  if (!object) return;
  const { metadata, spec = {} }: DecodedObject<Node> = object;
  const { metadata: before, spec: oldSpec = {} }: Partial<DecodedObject<Node>> = oldObject ?? {};
  const isNew = operation === 'CREATE';
  if (spec.configSource && isNew)
    throw refused(attributes, `node "${node}" is not allowed to create pods with a non-nil configSource`);
  if (spec.configSource && !semanticEqual(spec.configSource, oldSpec.configSource))
    throw refused(
      attributes,
      `node "${node}" is not allowed to update configSource to a new non-nil configSource`,
    );
  if (!isNew && !semanticEqual(spec.taints, oldSpec.taints))
    throw refused(attributes, `node "${node}" is not allowed to modify taints`);
  const forbidden = changedLabels(metadata.labels, before?.labels).filter(isOfOthers).sort();
  if (forbidden.length === 0) return;
  throw refused(
    attributes,
    isNew
      ? `node "${node}" is not allowed to set the following labels: ${forbidden.join(', ')}`
      : `is not allowed to modify labels: ${forbidden.join(', ')}`,
  );
}

function changedLabels(labels: Labels = {}, before: Labels = {}): readonly string[] {
  const all = new Set([...Object.keys(labels), ...Object.keys(before)]);
  return [...all].filter((label) => labels[label] !== before[label]);
}

/** A label that others steer pods by. */
function isOfOthers(label: string): boolean {
  const slash = label.indexOf('/');
  const prefix = slash < 0 ? '' : label.slice(0, slash);
  if (isWithin(prefix, 'node-restriction.kubernetes.io')) return true;
  if (!isWithin(prefix, 'kubernetes.io') && !isWithin(prefix, 'k8s.io')) return false;
  return !OWN_LABELS.has(label) && !OWN_PREFIXES.some((own) => isWithin(prefix, own));
}

function isWithin(prefix: string, domain: string): boolean {
  return prefix === domain || prefix.endsWith(`.${domain}`);
}
