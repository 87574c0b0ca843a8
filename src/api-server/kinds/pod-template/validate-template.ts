import { compileLabelSelector, isEmptySelector } from '../../../kubernetes/index.js';
import type { DeepReadonly, LabelSelector, PodTemplateSpec } from '../../../kubernetes/index.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import {
  shownSelector,
  sortedMap,
  validateAnnotations,
  validateLabelSelector,
  validateLabels,
} from '../validation/labels.js';
import { validatePodSpec } from './validate-pod-spec.js';

interface TemplateOwnerSpec {
  readonly selector?: DeepReadonly<LabelSelector>;
  readonly template?: PodTemplateSpec;
}

/**
 * The rules that Deployments and ReplicaSets share: a selector that selects something, and a template that it
 * selects. Source: ValidateReplicaSetSpec and ValidatePodTemplateSpecForReplicaSet in pkg/apis/apps/validation.
 */
export function validateSelectorAndTemplate(spec: TemplateOwnerSpec, errors: FieldError[]): void {
  const { selector } = spec;
  let isUsable = true;
  if (!selector) errors.push(required('spec.selector'));
  else {
    isUsable = validateLabelSelector(selector, 'spec.selector', errors);
    if (isEmptySelector(selector)) {
      errors.push(
        invalid('spec.selector', shownSelector(selector), 'empty selector is invalid for deployment'),
      );
    }
  }
  if (!isUsable) errors.push(invalid('spec.selector', shownSelector(selector), 'invalid label selector'));
  else validateTemplate(spec.template ?? {}, selector, errors);
}

function validateTemplate(
  template: PodTemplateSpec,
  selector: DeepReadonly<LabelSelector> | undefined,
  errors: FieldError[],
): void {
  const path = 'spec.template';
  const labels = template.metadata?.labels;
  if (!compileLabelSelector(selector)(labels)) {
    errors.push(
      invalid(`${path}.metadata.labels`, sortedMap(labels), '`selector` does not match template `labels`'),
    );
  }
  validateLabels(labels, `${path}.metadata.labels`, errors);
  validateAnnotations(template.metadata?.annotations, `${path}.metadata.annotations`, errors);
  const spec = template.spec ?? { containers: [] };
  validatePodSpec(spec, `${path}.spec`, errors);
  if (spec.ephemeralContainers?.length) {
    errors.push(
      forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'),
    );
  }
  if (spec.restartPolicy !== 'Always') {
    errors.push(notSupported(`${path}.spec.restartPolicy`, spec.restartPolicy ?? '', ['Always']));
  }
  if (spec.activeDeadlineSeconds !== undefined) {
    errors.push(
      forbidden(`${path}.spec.activeDeadlineSeconds`, 'activeDeadlineSeconds in ReplicaSet is not Supported'),
    );
  }
}
