import type { Container, Toleration } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, DecodedObject, Pod, PodSpec } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { FieldError, Subresource } from '../../kind-definition.js';
import { validateAddedContainers } from './ephemeral-containers.validation.js';
import { isMirror, resizeObstacleOf, validateResize } from './pod-resize.validation.js';
import { validatePodSpec } from '../../pod-template/validate-pod-spec.js';
import { validateDeletionCost } from '../../pod-template/validate-template.js';
import { forbidden, invalid } from '../../validation/field-errors.js';

const ONLY_THESE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

export function validatePod(pod: DecodedObject<Pod>, errors: FieldError[], old?: DecodedObject<Pod>): void {
  const { spec = {} } = pod;
  validateDeletionCost(pod, 'metadata.annotations', errors, old);
  validatePodSpec(spec, 'spec', errors);
  spec.containers?.forEach(({ image }, index) => {
    if (image && image !== image.trim()) {
      errors.push(
        invalid(`spec.containers[${index}].image`, image, 'must not have leading or trailing whitespace'),
      );
    }
  });
}

/** Source: ValidatePodUpdate in pkg/apis/core/validation/validation.go. */
export function validatePodUpdate(
  pod: DecodedObject<Pod>,
  old: DecodedObject<Pod>,
  subresource: Subresource,
  errors: FieldError[],
): void {
  if (subresource === 'resize') {
    const obstacle = resizeObstacleOf(old);
    if (obstacle !== undefined) {
      errors.push(forbidden('', obstacle));
      return;
    }
    validatePod(pod, errors, old);
    validateResize(pod, old, errors);
    return;
  }
  if (subresource === 'ephemeralcontainers') {
    if (isMirror(old)) errors.push(forbidden('', 'static pods do not support ephemeral containers'));
    else {
      validatePod(pod, errors, old);
      validateAddedContainers(pod, old, errors);
    }
    return;
  }
  if (subresource !== '') {
    if (pod.spec?.nodeName !== old.spec?.nodeName) {
      errors.push(forbidden('status.nodeName', 'may not be changed directly'));
    }
    return;
  }
  validatePod(pod, errors, old);
  const [spec, oldSpec] = [pod.spec ?? {}, old.spec ?? {}];
  for (const list of ['containers', 'initContainers'] as const) {
    if ((spec[list]?.length ?? 0) !== (oldSpec[list]?.length ?? 0)) {
      errors.push(forbidden(`spec.${list}`, 'pod updates may not add or remove containers'));
      return;
    }
  }
  const before = errors.length;
  validateDeadline(spec, oldSpec, errors);
  validateTolerationsKept(spec.tolerations, oldSpec.tolerations, errors);
  if (errors.length > before) return;
  const gates = keptGates(spec, oldSpec, errors);
  if (!semanticEqual(fixedPart({ ...spec, schedulingGates: gates }), fixedPart(oldSpec)))
    errors.push(forbidden('spec', ONLY_THESE));
}

/** Gates may be taken away, in any order. Returns those that were there where none is new. */
function keptGates(
  { schedulingGates: gates = [] }: Decoded<PodSpec>,
  { schedulingGates: old }: Decoded<PodSpec>,
  errors: FieldError[],
): Decoded<PodSpec>['schedulingGates'] {
  const before = new Set(old?.map(({ name }) => name));
  const added = gates.filter(({ name }) => !before.has(name));
  for (const { name = '' } of added) {
    const problem = `only deletion is allowed, but found new scheduling gate '${name}'`;
    errors.push(forbidden('spec.schedulingGates', problem));
  }
  return added.length === 0 ? old : gates;
}

/** The spec without what an update may change. */
function fixedPart(spec: Decoded<PodSpec>): object {
  const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, ...rest } = spec;
  const withoutImage = ({ image: _image, ...container }: Decoded<Container>): object => container;
  const grace = spec.terminationGracePeriodSeconds ?? 30;
  return {
    ...rest,
    terminationGracePeriodSeconds: grace < 0 ? 1 : grace,
    containers: spec.containers?.map(withoutImage),
    initContainers: spec.initContainers?.map(withoutImage),
  };
}

function validateDeadline(spec: Decoded<PodSpec>, old: Decoded<PodSpec>, errors: FieldError[]): void {
  const field = 'spec.activeDeadlineSeconds';
  const [deadline, before] = [spec.activeDeadlineSeconds, old.activeDeadlineSeconds];
  if (before === undefined || deadline === before) return;
  if (deadline === undefined) {
    errors.push(invalid(field, null, 'must not update from a positive integer to nil value'));
  } else if (deadline > before) {
    errors.push(invalid(field, deadline, 'must be less than or equal to previous value'));
  }
}

function validateTolerationsKept(
  tolerations: readonly Decoded<Toleration>[] | undefined,
  old: readonly Decoded<Toleration>[] | undefined,
  errors: FieldError[],
): void {
  const kept = new Set(tolerations?.map(textWithoutSeconds));
  if (old?.every((one) => kept.has(textWithoutSeconds(one))) ?? true) return;
  errors.push(
    forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds'),
  );
}

/** The same for two that differ in their seconds only; empty fields are absent here. */
function textWithoutSeconds({ effect, key, operator, value }: Decoded<Toleration>): string {
  return JSON.stringify([key, operator, value, effect]);
}
