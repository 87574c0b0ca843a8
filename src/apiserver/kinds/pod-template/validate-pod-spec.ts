import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkQualifiedName,
  outOfRange,
} from '@rollkeeper/machinery/kubernetes';
import type { Decoded, PodSpec } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { duplicate, invalid, notSupported, required } from '../validation/field-errors.js';
import { validateLabels } from '../validation/labels.js';
import { validateSyntax, validateWords } from '../validation/words.js';
import type { WordRule } from '../validation/words.js';
import { validateAffinity } from './validate-affinity.js';
import { validateFileKeyVolumes } from './validate-env.js';
import { validateEvictionResponders } from './validate-eviction-responders.js';
import { validateContainers } from './validate-containers.js';
import { validateDns } from './validate-dns.js';
import { validatePodResources } from './validate-pod-resources.js';
import { validateResources } from './validate-resources.js';
import {
  validateContextOfOs,
  validateHostProcesses,
  validateHostUsers,
  validatePodSecurityContext,
} from './validate-security-context.js';
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
  { field: 'preemptionPolicy', words: ['PreemptLowerPriority', 'Never'] },
];

/** Fields that name something, with the syntax of the name. */
const NAMES = [
  { field: 'serviceAccountName', check: checkDns1123Subdomain },
  { field: 'nodeName', check: checkDns1123Subdomain },
  { field: 'hostname', check: checkDns1123Label },
  { field: 'subdomain', check: checkDns1123Label },
  { field: 'priorityClassName', check: checkDns1123Subdomain },
  { field: 'runtimeClassName', check: checkDns1123Subdomain },
  { field: 'hostnameOverride', check: checkDns1123Subdomain },
] as const;

const MAX_INT32 = 2 ** 31 - 1;

interface PodContext {
  /** The name of a pod; a template has none. */
  readonly podName?: string;
  /** The spec of the pod before the change. */
  readonly old?: Decoded<PodSpec>;
}

/**
 * Source: ValidatePodSpec in pkg/apis/core/validation/validation.go.
 */
export function validatePodSpec(
  spec: Decoded<PodSpec>,
  path: string,
  errors: FieldError[],
  { podName, old }: PodContext = {},
): void {
  const volumes = validateVolumes(spec.volumes, `${path}.volumes`, errors, podName);
  if (spec.resourceClaims) validateClaims(spec, path, errors);
  validateContainers(spec, volumes, path, errors);
  validatePodResources(spec, `${path}.resources`, errors);
  validateWords(spec, WORDS, path, errors);
  validateLabels(spec.nodeSelector, `${path}.nodeSelector`, errors);
  if (spec.securityContext)
    validatePodSecurityContext(spec.securityContext, { spec, old }, `${path}.securityContext`, errors);
  if (spec.affinity) validateAffinity(spec.affinity, `${path}.affinity`, errors);
  validateDns(spec, path, errors);
  validateGates(spec, path, errors);
  validateTopologySpread(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`, errors);
  validateHostProcesses(spec, path, errors);
  validateHostUsers(spec, path, errors);
  validateFileKeyVolumes(spec, path, errors);
  for (const { field, check } of NAMES) {
    const name = spec[field];
    if (name) validateSyntax(name, check, `${path}.${field}`, errors);
  }
  validateSeconds(spec, path, errors);
  validateTolerations(spec.tolerations, `${path}.tolerations`, errors);
  if (spec.overhead) validateResources({ limits: spec.overhead }, `${path}.overhead`, errors);
  if (spec.os) validateOs(spec, path, errors);
  validateEvictionResponders(spec, path, errors);
}

function validateSeconds(spec: Decoded<PodSpec>, path: string, errors: FieldError[]): void {
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_INT32)) {
    errors.push(invalid(`${path}.activeDeadlineSeconds`, deadline, outOfRange(1, MAX_INT32)));
  }
}

function validateGates(
  { readinessGates, schedulingGates }: Decoded<PodSpec>,
  path: string,
  errors: FieldError[],
): void {
  readinessGates?.forEach(({ conditionType }, index) =>
    validateSyntax(
      conditionType ?? '',
      checkQualifiedName,
      `${path}.readinessGates[${index}].conditionType`,
      errors,
    ),
  );
  const seen = new Set<string>();
  schedulingGates?.forEach(({ name = '' }, index) => {
    const field = `${path}.schedulingGates[${index}]`;
    validateSyntax(name, checkQualifiedName, field, errors);
    if (seen.has(name)) errors.push(duplicate(field, name));
    seen.add(name);
  });
}

const SYSTEMS = ['linux', 'windows'];

function validateOs(spec: Decoded<PodSpec>, path: string, errors: FieldError[]): void {
  const name = spec.os?.name;
  if (!name) errors.push(required(`${path}.os.name`));
  else if (!SYSTEMS.includes(name)) errors.push(notSupported(`${path}.os`, name, SYSTEMS));
  validateContextOfOs(spec, path, errors);
}

function validateClaims({ resourceClaims }: Decoded<PodSpec>, path: string, errors: FieldError[]): void {
  const seen = new Set<string>();
  resourceClaims?.forEach(({ name = '', resourceClaimName, resourceClaimTemplateName }, index) => {
    const at = `${path}.resourceClaims[${index}]`;
    if (!name) errors.push(required(`${at}.name`));
    else if (seen.has(name)) errors.push(duplicate(`${at}.name`, name));
    else validateSyntax(name, checkDns1123Label, `${at}.name`, errors);
    seen.add(name);
    for (const [field, text] of Object.entries({ resourceClaimName, resourceClaimTemplateName }))
      if (text !== undefined) validateSyntax(text, checkDns1123Subdomain, `${at}.${field}`, errors);
    if ((resourceClaimName === undefined) === (resourceClaimTemplateName === undefined))
      errors.push(
        invalid(
          at,
          {
            Name: name,
            ResourceClaimName: resourceClaimName ?? null,
            ResourceClaimTemplateName: resourceClaimTemplateName ?? null,
          },
          resourceClaimName === undefined
            ? 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'
            : 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
        ),
      );
  });
}
