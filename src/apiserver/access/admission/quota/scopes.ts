import type { ResourceQuotaSpec } from '@rollkeeper/machinery/types/core-v1';
import { PersistentVolumeClaim, objectOfKind, toDouble } from '@rollkeeper/machinery/kubernetes';
import type { Pod, PodSpec, ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { qosClassOf } from '../../../kinds/index.js';

interface Requirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Whether the quota counts the object at all: scopes are of pods, one of claims, and all of them must fit. */
export function isInScope(
  { scopes = [], scopeSelector }: ResourceQuotaSpec,
  type: ResourceType,
  object: Readonly<UnstructuredObject>,
): boolean {
  const wanted: Requirement[] = [
    ...scopes.map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(scopeSelector?.matchExpressions ?? []),
  ];
  if (wanted.length === 0) return true;
  if (type.group !== '') return false;
  if (type.resource === PersistentVolumeClaim.resource) {
    const claim: PersistentVolumeClaim = objectOfKind(object);
    return wanted.every((requirement) => fitsClaim(requirement, claim));
  }
  if (type.resource !== 'pods') return false;
  return wanted.every((requirement) => fits(requirement, objectOfKind<Pod>(object).spec));
}

/** A claim is in the scope of the class that it has, of the one it had, and of the one that it gets. */
function fitsClaim({ operator, scopeName, values = [] }: Requirement, claim: PersistentVolumeClaim): boolean {
  if (scopeName !== 'VolumeAttributesClass') return false;
  const { spec, status } = claim;
  const names = [
    spec.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].filter((name) => name !== undefined && name !== '');
  if (names.length === 0) return fitsName(operator, values, '');
  return operator !== 'DoesNotExist' && names.some((name) => fitsName(operator, values, name!));
}

function fits({ operator, scopeName, values = [] }: Requirement, spec: PodSpec): boolean {
  switch (scopeName) {
    case 'Terminating':
      return isTerminating(spec);
    case 'NotTerminating':
      return !isTerminating(spec);
    case 'BestEffort':
      return qosClassOf(spec) === 'BestEffort';
    case 'NotBestEffort':
      return qosClassOf(spec) !== 'BestEffort';
    case 'CrossNamespacePodAffinity':
      return hasCrossNamespaceAffinity(spec);
    case 'PriorityClass':
      return fitsName(operator, values, spec.priorityClassName ?? '');
    default:
      return false;
  }
}

function isTerminating({ activeDeadlineSeconds }: PodSpec): boolean {
  return activeDeadlineSeconds !== undefined && toDouble(activeDeadlineSeconds) >= 0;
}

function fitsName(operator: string, values: readonly string[], name: string): boolean {
  if (operator === 'Exists') return name !== '';
  if (operator === 'DoesNotExist') return name === '';
  return operator === 'In' ? values.includes(name) : !values.includes(name);
}

function hasCrossNamespaceAffinity({ affinity }: PodSpec): boolean {
  return [affinity?.podAffinity, affinity?.podAntiAffinity]
    .flatMap((rules) => [
      ...(rules?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(rules?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
        ({ podAffinityTerm }) => podAffinityTerm,
      ),
    ])
    .some(
      ({ namespaces, namespaceSelector }) => (namespaces?.length ?? 0) > 0 || namespaceSelector !== undefined,
    );
}
