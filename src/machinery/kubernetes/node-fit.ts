import { parseInt64 } from './int64.js';
import { ownField } from './json-values.js';
import { compileLabelSelector } from './label-selector.js';
import type { DeepReadonly, Node, Pod } from './objects.js';

type PodSpec = DeepReadonly<Pod['spec']>;
type ReadableNode = DeepReadonly<Node>;
export type Taint = DeepReadonly<NonNullable<NonNullable<Node['spec']>['taints']>[number]>;
export type Toleration = DeepReadonly<NonNullable<Pod['spec']['tolerations']>[number]>;
type NodeAffinity = NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>;
type RequiredTerms = NonNullable<NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']>;
type Term = RequiredTerms['nodeSelectorTerms'][number];
type Requirement = NonNullable<Term['matchExpressions']>[number];

/** The only node field that a term may match. */
const NAME_FIELD = 'metadata.name';

export function tolerates(
  { effect, key, operator = 'Equal', value = '' }: Toleration,
  taint: Taint,
): boolean {
  return (
    (!effect || effect === taint.effect) &&
    (key ? key === taint.key : operator === 'Exists') &&
    (operator === 'Exists' || value === (taint.value ?? ''))
  );
}

/** Whether the node satisfies the pod's `nodeSelector` and required node affinity. */
export function isNodeSelected(
  { affinity, nodeSelector = {} }: PodSpec,
  { metadata }: ReadableNode,
): boolean {
  const hasLabels = Object.entries(nodeSelector).every(
    ([key, value]) => ownField(metadata.labels, key) === value,
  );
  return (
    hasLabels &&
    isSelectedByTerms(affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution, { metadata })
  );
}

/** Whether the node matches one of the terms; without terms, every node matches. */
export function isSelectedByTerms(
  required: RequiredTerms | undefined,
  { metadata }: Pick<ReadableNode, 'metadata'>,
): boolean {
  return !required || required.nodeSelectorTerms.some((term) => isMet(term, metadata));
}

/** The one node that the pod's affinity names, as for a DaemonSet's pod. */
export function nodeNamedByAffinity(spec: PodSpec): string | undefined {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? [])
    for (const { key, operator, values = [] } of matchFields)
      if (key === NAME_FIELD && operator === 'In' && values.length === 1) return values[0];
  return undefined;
}

/** A term without requirements selects nothing. */
function isMet(
  { matchExpressions = [], matchFields = [] }: Term,
  metadata: ReadableNode['metadata'],
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields = { [NAME_FIELD]: metadata.name };
  return (
    matchExpressions.every((each) => meets(each, metadata.labels)) &&
    matchFields.every((each) => meets(each, fields))
  );
}

function meets(requirement: Requirement, labels: Readonly<Record<string, string>> | undefined): boolean {
  const { key, operator, values = [] } = requirement;
  if (operator !== 'Gt' && operator !== 'Lt')
    return compileLabelSelector({ matchExpressions: [requirement] })(labels);
  const is = parseInt64(ownField(labels, key) ?? '');
  const bound = parseInt64(values[0] ?? '');
  if (is === undefined || bound === undefined) return false;
  return operator === 'Gt' ? is > bound : is < bound;
}
