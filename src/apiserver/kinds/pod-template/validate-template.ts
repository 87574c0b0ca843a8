import {
  POD_DELETION_COST,
  compileLabelSelector,
  isEmptySelector,
  parseDeletionCost,
} from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DeepReadonly, LabelSelector, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import {
  shownSelector,
  shownMap,
  validateAnnotations,
  validateLabelSelector,
  validateLabels,
} from '../validation/labels.js';
import { validatePodSpec } from './validate-pod-spec.js';

type Selector = DeepReadonly<Decoded<LabelSelector>>;

interface TemplateOwnerSpec {
  readonly selector?: Selector;
  readonly template?: Decoded<PodTemplateSpec>;
}

/**
 * The rules that Deployments and ReplicaSets share: a selector that selects something, and a template that it
 * selects. Source: ValidateReplicaSetSpec and ValidatePodTemplateSpecForReplicaSet in pkg/apis/apps/validation.
 */
export function validateSelectorAndTemplate(
  spec: TemplateOwnerSpec,
  owner: string,
  errors: FieldError[],
  old?: TemplateOwnerSpec,
): void {
  if (!validateOwnSelector(spec.selector, owner, errors)) {
    errors.push(invalid('spec.selector', shownSelector(spec.selector), 'invalid label selector'));
    return;
  }
  const template = spec.template ?? {};
  validateSelects(spec.selector, template, errors);
  validatePodTemplate(template, 'spec.template', errors, old?.template);
  validateLongRunning(template, owner, errors);
}

/** @returns whether the selector can be used */
export function validateOwnSelector(
  selector: Selector | undefined,
  owner: string,
  errors: FieldError[],
): boolean {
  if (!selector) {
    errors.push(required('spec.selector'));
    return true;
  }
  const isUsable = validateLabelSelector(selector, 'spec.selector', errors);
  if (isEmptySelector(selector)) {
    errors.push(invalid('spec.selector', shownSelector(selector), `empty selector is invalid for ${owner}`));
  }
  return isUsable;
}

/** A template whose pods its owner would not find makes it create pods for ever. */
export function validateSelects(
  selector: Selector | undefined,
  template: Decoded<PodTemplateSpec>,
  errors: FieldError[],
): void {
  const labels = template.metadata?.labels;
  if (compileLabelSelector(selector)(labels)) return;
  errors.push(
    invalid(
      'spec.template.metadata.labels',
      shownMap(template.metadata, 'labels'),
      '`selector` does not match template `labels`',
    ),
  );
}

/** Source: ValidatePodTemplateSpec in pkg/apis/core/validation/validation.go. */
export function validatePodTemplate(
  template: Decoded<PodTemplateSpec>,
  path: string,
  errors: FieldError[],
  old?: Decoded<PodTemplateSpec>,
): void {
  validateLabels(template.metadata?.labels, `${path}.labels`, errors);
  validateAnnotations(template.metadata?.annotations, `${path}.annotations`, errors);
  validateDeletionCost(template, `${path}.annotations`, errors, old);
  const spec = template.spec ?? { containers: [] };
  validatePodSpec(spec, `${path}.spec`, errors);
  if (spec.ephemeralContainers?.length) {
    errors.push(
      forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'),
    );
  }
}

interface Annotated {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
}

/**
 * A cost that is none is refused, unless it has been there before: the object could not be changed any more.
 * Source: ValidatePodSpecificAnnotations in pkg/apis/core/validation, GetValidationOptionsFromPodSpecAndMeta in pkg/api/pod.
 */
export function validateDeletionCost(
  pod: Annotated,
  path: string,
  errors: FieldError[],
  old?: Annotated,
): void {
  if (hasDeletionCost(pod) || (old && !hasDeletionCost(old))) return;
  errors.push(invalid(`${path}[${POD_DELETION_COST}]`, '', 'must be a 32bit integer'));
}

/** Whether there is no cost either. */
function hasDeletionCost({ metadata }: Annotated): boolean {
  const text = metadata?.annotations?.[POD_DELETION_COST];
  return text === undefined || parseDeletionCost(text) !== undefined;
}

/** Pods that are started again whenever they end. */
export function validateLongRunning(
  { spec }: Decoded<PodTemplateSpec>,
  owner: string,
  errors: FieldError[],
): void {
  const path = 'spec.template.spec';
  if (spec?.restartPolicy !== 'Always') {
    errors.push(notSupported(`${path}.restartPolicy`, spec?.restartPolicy ?? '', ['Always']));
  }
  if (spec?.activeDeadlineSeconds !== undefined) {
    errors.push(
      forbidden(`${path}.activeDeadlineSeconds`, `activeDeadlineSeconds in ${owner} is not Supported`),
    );
  }
}
