import type { PodSpec } from '../../../kubernetes/index.js';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from '../validation/field-errors.js';
import { validateLabels } from '../validation/labels.js';
import { checkDns1123Label, checkDns1123Subdomain, outOfRange } from '../validation/syntax.js';
import { validateSyntax, validateWords } from '../validation/words.js';
import type { WordRule } from '../validation/words.js';
import { validateContainers } from './validate-containers.js';
import { validateTolerations } from './validate-tolerations.js';
import { validateTopologySpread } from './validate-topology-spread.js';
import { validateVolumes } from './validate-volumes.js';

const WORDS: readonly WordRule[] = [
  { field: 'restartPolicy', words: ['Always', 'OnFailure', 'Never'], isRequired: true },
  {
    field: 'dnsPolicy',
    words: ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
    isRequired: true,
  },
];

/** Fields that name something, with the syntax of the name. */
const NAMES = [
  { field: 'serviceAccountName', check: checkDns1123Subdomain },
  { field: 'nodeName', check: checkDns1123Subdomain },
  { field: 'hostname', check: checkDns1123Label },
  { field: 'subdomain', check: checkDns1123Label },
  { field: 'priorityClassName', check: checkDns1123Subdomain },
  { field: 'runtimeClassName', check: checkDns1123Subdomain },
] as const;

const MAX_INT32 = 2 ** 31 - 1;

/** Source: ValidatePodSpec in pkg/apis/core/validation/validation.go. */
export function validatePodSpec(spec: PodSpec, path: string, errors: FieldError[]): void {
  const volumes = validateVolumes(spec.volumes, `${path}.volumes`, errors);
  validateContainers(spec, volumes, path, errors);
  validateWords(spec, WORDS, path, errors);
  validateLabels(spec.nodeSelector, `${path}.nodeSelector`, errors);
  for (const { field, check } of NAMES) {
    const name = spec[field];
    if (name) validateSyntax(name, check, `${path}.${field}`, errors);
  }
  validateSeconds(spec, path, errors);
  spec.imagePullSecrets?.forEach((secret, index) => {
    if (!secret.name) errors.push(required(`${path}.imagePullSecrets[${index}].name`));
  });
  validateTopologySpread(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`, errors);
  validateTolerations(spec.tolerations, `${path}.tolerations`, errors);
}

function validateSeconds(spec: PodSpec, path: string, errors: FieldError[]): void {
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_INT32)) {
    errors.push(invalid(`${path}.activeDeadlineSeconds`, deadline, outOfRange(1, MAX_INT32)));
  }
  const grace = spec.terminationGracePeriodSeconds;
  if (grace !== undefined && grace < 0) {
    errors.push(
      invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than or equal to 0'),
    );
  }
}
