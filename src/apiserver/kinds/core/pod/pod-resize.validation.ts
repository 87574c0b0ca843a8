import type { Container, ResourceRequirements } from '@rollkeeper/machinery/types/core-v1';
import type { Amounts, Decoded, DecodedObject, Pod, PodSpec } from '@rollkeeper/machinery/kubernetes';
import { isMirrorPod, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../../kind-definition.js';
import { forbidden, invalid } from '../../validation/field-errors.js';
import { isResizable } from './pod.subresources.js';
import { qosClassOf } from './qos-class.js';

type AnyPod = DecodedObject<Pod>;
type Resources = Decoded<ResourceRequirements>;
type List = 'containers' | 'initContainers';

const LISTS: readonly List[] = ['containers', 'initContainers'];
const ONLY_CPU_AND_MEMORY = 'only cpu and memory resources are mutable';

/** Why a pod cannot be resized at all. */
export function resizeObstacleOf(old: AnyPod): string | undefined {
  if (isMirrorPod(old)) return 'static pods cannot be resized';
  return old.spec?.os?.name === 'windows' ? 'windows pods cannot be resized' : undefined;
}

/**
 * Validates a resize: cpu and memory of containers and sidecars. Their spec has been validated. Source:
 * ValidatePodResize in pkg/apis/core/validation/validation.go.
 */
export function validateResize(pod: AnyPod, old: AnyPod, errors: FieldError[]): void {
  const [spec, before] = [pod.spec ?? {}, old.spec ?? {}];
  const found = errors.length;
  if ((old.status?.qosClass ?? qosClassOf(before)) !== qosClassOf(spec))
    errors.push(
      invalid('spec', pod.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing'),
    );
  if (!canNodeResize(old)) errors.push(forbidden('spec', 'Pod running on node without support for resize'));
  if (hasOtherContainers(spec, before, errors)) return;
  for (const list of LISTS) {
    before[list]?.forEach((container, index) => {
      const next = spec[list]?.[index] ?? {};
      if (isResizable(container, list))
        validateKept(next.resources, container.resources, `spec.${list}[${index}].resources`, errors);
    });
  }
  validateKept(spec.resources, before.resources, 'spec.resources', errors);
  for (const list of LISTS) validateFixedParts(spec, before, list, errors);
  if (errors.length > found) return;
  if (!semanticEqual(withResourcesOf(spec, before), before))
    errors.push(forbidden('spec', ONLY_CPU_AND_MEMORY));
}

/** The node says of running containers what they have, if it can change that. */
function canNodeResize({ status }: AnyPod): boolean {
  const running = status?.containerStatuses?.find(({ state }) => state?.running);
  return running === undefined || running.resources !== undefined;
}

function hasOtherContainers(spec: Decoded<PodSpec>, old: Decoded<PodSpec>, errors: FieldError[]): boolean {
  const found = errors.length;
  for (const list of LISTS) {
    const before = old[list] ?? [];
    if ((spec[list]?.length ?? 0) !== before.length) {
      errors.push(forbidden(`spec.${list}`, `${list} may not be added or removed on resize`));
      continue;
    }
    before.forEach(({ name }, index) => {
      if (spec[list]?.[index]?.name === name) return;
      errors.push(
        forbidden(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`),
      );
    });
  }
  return errors.length > found;
}

function validateKept(
  resources: Resources | undefined,
  old: Resources | undefined,
  path: string,
  errors: FieldError[],
): void {
  for (const part of ['requests', 'limits'] as const) {
    if (isSomeRemoved(resources?.[part], old?.[part]))
      errors.push(forbidden(`${path}.${part}`, `resource ${part} cannot be removed`));
  }
}

function isSomeRemoved(amounts: Amounts | undefined, old: Amounts | undefined): boolean {
  return Object.keys(old ?? {}).some((name) => !Object.hasOwn(amounts ?? {}, name));
}

function validateFixedParts(
  spec: Decoded<PodSpec>,
  old: Decoded<PodSpec>,
  list: List,
  errors: FieldError[],
): void {
  old[list]?.forEach((before, index) => {
    const container = spec[list]?.[index] ?? {};
    if (!isResizable(before, list)) {
      if (!semanticEqual(container, before))
        errors.push(forbidden('spec', 'resources for non-sidecar init containers are immutable'));
    } else if (!semanticEqual(withCpuAndMemoryOf(container, before), before)) {
      const whose = list === 'containers' ? '' : ' for sidecar containers';
      errors.push(forbidden('spec', `only cpu and memory resources${whose} are mutable`));
    }
  });
}

/** The container with the cpu and memory of another state of it. */
function withCpuAndMemoryOf(container: Decoded<Container>, old: Decoded<Container>): Decoded<Container> {
  return { ...container, resources: mixed(container.resources, old.resources) };
}

function mixed(resources: Resources | undefined, old: Resources | undefined): Resources {
  return {
    ...resources,
    limits: mixedAmounts(resources?.limits, old?.limits),
    requests: mixedAmounts(resources?.requests, old?.requests),
  };
}

function mixedAmounts(
  amounts: Amounts | undefined,
  old: Amounts | undefined,
): Record<string, string | number> {
  const { cpu: _cpu, memory: _memory, ...others } = amounts ?? {};
  const { cpu, memory } = old ?? {};
  return { ...others, ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) };
}

function withResourcesOf(spec: Decoded<PodSpec>, old: Decoded<PodSpec>): Decoded<PodSpec> {
  const kept = (list: List): Decoded<Container>[] | undefined =>
    spec[list]?.map((container, index) => withCpuAndMemoryOf(container, old[list]?.[index] ?? {}));
  return {
    ...spec,
    ...(spec.resources && { resources: mixed(spec.resources, old.resources) }),
    containers: kept('containers'),
    ...(spec.initContainers && { initContainers: kept('initContainers') }),
  };
}
