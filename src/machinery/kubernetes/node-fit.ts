import { parseInt64 } from './int64.js';
import { ownField } from './json-values.js';
import { compileLabelSelector } from './label-selector.js';
import type { LabelMatcher } from './label-selector.js';
import type { DeepReadonly, Node, Pod } from './objects.js';

type PodSpec = DeepReadonly<Pod['spec']>;
type ReadableNode = DeepReadonly<Node>;
export type Taint = DeepReadonly<NonNullable<NonNullable<Node['spec']>['taints']>[number]>;
export type Toleration = DeepReadonly<NonNullable<Pod['spec']['tolerations']>[number]>;
type NodeAffinity = NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>;
type RequiredTerms = NonNullable<NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']>;
export type NodeTerm = RequiredTerms['nodeSelectorTerms'][number];
type Requirement = NonNullable<NodeTerm['matchExpressions']>[number];

/** The only node field that a term may match. */
const NAME_FIELD = 'metadata.name';

export function tolerates(
  { effect, key, operator = 'Equal', value = '' }: Toleration,
  taint: Taint,
): boolean {
  return (
    (!effect || effect === taint.effect) &&
    (key ? key === taint.key : operator === 'Exists') &&
    (operator === 'Exists' || (isEquality(operator) && value === (taint.value ?? '')))
  );
}

/** `Lt` and `Gt` are off by default in Kubernetes 1.36: such a toleration tolerates nothing. */
function isEquality(operator: string): boolean {
  return operator === 'Equal' || operator === '';
}

/** Whether a node, of which nothing but the metadata counts, satisfies what was compiled. */
export type NodeMatcher = (node: Pick<ReadableNode, 'metadata'>) => boolean;

/** Whether the node satisfies the pod's `nodeSelector` and required node affinity. */
export function isNodeSelected(spec: PodSpec, node: ReadableNode): boolean {
  return compileNodeSelection(spec)(node);
}

/** {@link isNodeSelected} for many nodes. */
export function compileNodeSelection({ affinity, nodeSelector = {} }: PodSpec): NodeMatcher {
  const wanted = Object.entries(nodeSelector);
  const areMet = compileNodeTerms(affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution);
  return (node) =>
    wanted.every(([key, value]) => ownField(node.metadata.labels, key) === value) && areMet(node);
}

/** Whether the node matches one of the terms; without terms, every node matches. */
export function isSelectedByTerms(
  required: RequiredTerms | undefined,
  node: Pick<ReadableNode, 'metadata'>,
): boolean {
  return compileNodeTerms(required)(node);
}

/** {@link isSelectedByTerms} for many nodes. */
export function compileNodeTerms(required: RequiredTerms | undefined): NodeMatcher {
  if (!required) return () => true;
  const terms = required.nodeSelectorTerms.map(compileNodeTerm);
  return (node) => terms.some((isMet) => isMet(node));
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
export function compileNodeTerm({ matchExpressions = [], matchFields = [] }: NodeTerm): NodeMatcher {
  if (matchExpressions.length + matchFields.length === 0) return () => false;
  const onLabels = matchExpressions.map(compileRequirement);
  const onFields = matchFields.map(compileRequirement);
  return ({ metadata }) =>
    onLabels.every((isMet) => isMet(metadata.labels)) &&
    onFields.every((isMet) => isMet({ [NAME_FIELD]: metadata.name }));
}

function compileRequirement(requirement: Requirement): LabelMatcher {
  const { key, operator, values = [] } = requirement;
  if (operator !== 'Gt' && operator !== 'Lt')
    return compileLabelSelector({ matchExpressions: [requirement] });
  const bound = parseInt64(values[0] ?? '');
  return (labels) => {
    const is = parseInt64(ownField(labels, key) ?? '');
    if (is === undefined || bound === undefined) return false;
    return operator === 'Gt' ? is > bound : is < bound;
  };
}
