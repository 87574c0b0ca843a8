import type { Container, NodeSelectorTerm, Toleration } from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, DecodedObject, Pod, PodSpec } from '@rollkeeper/machinery/kubernetes';
import { isMirrorPod, ownField, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { FieldError, Subresource } from '../../kind-definition.js';
import { validatePodStatus } from './pod-status.validation.js';
import { resizeObstacleOf, validateResize } from './pod-resize.validation.js';
import { validatePodSpec } from '../../pod-template/validate-pod-spec.js';
import { validateDeletionCost } from '../../pod-template/validate-template.js';
import { forbidden, invalid, required } from '../../validation/field-errors.js';
import { internalNodeSelectorTerm } from '../../validation/node-selectors.js';

const ONLY_THESE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

export function validatePod(pod: DecodedObject<Pod>, errors: FieldError[], old?: DecodedObject<Pod>): void {
  const { spec = {} } = pod;
  validateDeletionCost(pod, 'metadata.annotations', errors, old);
  validatePodSpec(spec, 'spec', errors, { podName: pod.metadata.name, old: old?.spec });
  validateTokens(spec, errors);
  spec.containers?.forEach(({ image }, index) => {
    if (image && image !== image.trim()) {
      errors.push(
        invalid(`spec.containers[${index}].image`, image, 'must not have leading or trailing whitespace'),
      );
    }
  });
}

/** A token is one of a service account. A template gets one later. */
function validateTokens({ serviceAccountName, volumes }: Decoded<PodSpec>, errors: FieldError[]): void {
  if (serviceAccountName) return;
  volumes?.forEach(({ projected }, index) =>
    projected?.sources?.forEach(({ serviceAccountToken }, at) => {
      if (serviceAccountToken)
        errors.push(
          forbidden(
            `spec.volumes[${index}].projected.sources[${at}].serviceAccountToken`,
            'must not be specified when serviceAccountName is not set',
          ),
        );
    }),
  );
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
    if (isMirrorPod(old)) errors.push(forbidden('', 'static pods do not support ephemeral containers'));
    else {
      validatePod(pod, errors, old);
      validateAddedContainers(pod, old, errors);
    }
    return;
  }
  if (subresource !== '') {
    validatePodStatus(pod, old, errors);
    return;
  }
  validatePod(pod, errors, old);
  const [spec, oldSpec] = [pod.spec ?? {}, old.spec ?? {}];
  for (const list of ['containers', 'initContainers'] as const) {
    if ((spec[list]?.length ?? 0) !== (oldSpec[list]?.length ?? 0)) {
      errors.push(forbidden(`spec.${list}`, 'pod updates may not add or remove containers'));
      return;
    }
    // Said once more than for a creation, as in ValidateContainerUpdates.
    spec[list]?.forEach(({ image }, index) => {
      if (!image) errors.push(required(`spec.${list}[${index}].image`));
    });
  }
  const before = errors.length;
  validateDeadline(spec, oldSpec, errors);
  if (errors.length > before) return;
  const areTolerationsKept = validateTolerationsKept(spec.tolerations, oldSpec.tolerations, errors);
  validateGatesKept(spec, oldSpec, errors);
  const isGated = (oldSpec.schedulingGates?.length ?? 0) > 0;
  if (isGated) validateNarrowing(spec, oldSpec, errors);
  const isSame = sameMeaning(fixedPart(spec, isGated), fixedPart(oldSpec, isGated));
  if (!areTolerationsKept || !isSame) errors.push(forbidden('spec', ONLY_THESE));
}

/** The spec without what an update may change. */
function fixedPart(spec: Decoded<PodSpec>, isGated: boolean): object {
  const {
    activeDeadlineSeconds: _deadline,
    tolerations: _tolerations,
    schedulingGates: _gates,
    affinity,
    nodeSelector,
    ...rest
  } = spec;
  const withoutImage = ({ image: _image, ...container }: Decoded<Container>): object => container;
  const grace = spec.terminationGracePeriodSeconds ?? 30;
  const { nodeAffinity, ...others } = affinity ?? {};
  return {
    ...rest,
    affinity: isGated ? others : { ...others, nodeAffinity },
    nodeSelector: isGated ? undefined : nodeSelector,
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
): boolean {
  const kept = new Set(tolerations?.map(textWithoutSeconds));
  if (old?.every((one) => kept.has(textWithoutSeconds(one))) ?? true) return true;
  errors.push(
    forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds'),
  );
  return false;
}

function validateGatesKept(spec: Decoded<PodSpec>, old: Decoded<PodSpec>, errors: FieldError[]): void {
  const known = new Set(old.schedulingGates?.map(({ name }) => name));
  spec.schedulingGates?.forEach(({ name = '' }, index) => {
    if (!known.has(name))
      errors.push(
        forbidden(
          `spec.schedulingGates[${index}].name`,
          `only deletion is allowed, but found new scheduling gate '${name}'`,
        ),
      );
  });
}

/** The nodes of a gated pod can be narrowed down, and no more. Source: validateNodeAffinityMutation. */
function validateNarrowing(spec: Decoded<PodSpec>, old: Decoded<PodSpec>, errors: FieldError[]): void {
  const labels = Object.entries(old.nodeSelector ?? {});
  if (labels.some(([label, value]) => ownField(spec.nodeSelector, label) !== value))
    errors.push(
      invalid(
        'spec.nodeSelector',
        spec.nodeSelector ?? null,
        'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
      ),
    );
  const before = termsOf(old) ?? [];
  const after = termsOf(spec);
  if (before.length === 0) return;
  if (before.length !== (after?.length ?? 0)) {
    errors.push(
      invalid(
        TERMS,
        after?.map(internalNodeSelectorTerm) ?? null,
        'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
      ),
    );
    return;
  }
  after?.forEach((term, index) => {
    if (!hasOnlyAdditions(term, before[index]!))
      errors.push(
        invalid(
          `${TERMS}[${index}]`,
          internalNodeSelectorTerm(term),
          'only additions are allowed (no mutations or deletions)',
        ),
      );
  });
}

const TERMS = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';

function termsOf({ affinity }: Decoded<PodSpec>): readonly Decoded<NodeSelectorTerm>[] | undefined {
  return affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
}

/**
 * The old requirements come first, unchanged. A term of nothing selects nothing, and more than that with anything
 * added.
 */
function hasOnlyAdditions(term: Decoded<NodeSelectorTerm>, old: Decoded<NodeSelectorTerm>): boolean {
  const sizeOf = ({ matchExpressions, matchFields }: Decoded<NodeSelectorTerm>): number =>
    (matchExpressions?.length ?? 0) + (matchFields?.length ?? 0);
  if (sizeOf(old) === 0) return sizeOf(term) === 0;
  return (['matchExpressions', 'matchFields'] as const).every((list) =>
    (old[list] ?? []).every((requirement, index) => sameMeaning(requirement, term[list]?.[index])),
  );
}

/** The same for two that differ in their seconds only; empty fields are absent here. */
function textWithoutSeconds({ effect, key, operator, value }: Decoded<Toleration>): string {
  return JSON.stringify([key, operator, value, effect]);
}

/**
 * Ephemeral containers can be added, and stay as they are from then on. Source: ValidatePodEphemeralContainersUpdate in
 * pkg/apis/core/validation/validation.go.
 */
function validateAddedContainers(
  pod: DecodedObject<Pod>,
  old: DecodedObject<Pod>,
  errors: FieldError[],
): void {
  const path = 'spec.ephemeralContainers';
  const present = Map.groupBy(pod.spec?.ephemeralContainers ?? [], ({ name }) => name);
  for (const before of old.spec?.ephemeralContainers ?? []) {
    const name = JSON.stringify(before.name ?? '');
    const container = present.get(before.name)?.[0];
    if (!container)
      errors.push(forbidden(path, `existing ephemeral containers ${name} may not be removed\n`));
    else if (!sameMeaning(container, before))
      errors.push(forbidden(path, `existing ephemeral containers ${name} may not be changed\n`));
  }
}
