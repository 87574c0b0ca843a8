import { checkPathSegment } from '@rollkeeper/machinery/kubernetes';
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetSpec,
  PodDisruptionBudgetStatus,
} from '@rollkeeper/machinery/types/policy-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { validateMetaConditions } from '../validation/conditions.js';
import type { FieldError } from '../kind-definition.js';
import { invalid, notSupported } from '../validation/field-errors.js';
import { shownSelector, validateLabelSelector } from '../validation/labels.js';
import { validateNonNegative } from '../validation/numbers.js';
import { validateIntOrPercent, validateNotAboveAll } from '../validation/quantities.js';

type Budget = DecodedObject<PodDisruptionBudget>;

const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

/** Source: pkg/registry/policy/poddisruptionbudget/strategy.go, ValidatePodDisruptionBudgetSpec. */
export const POD_DISRUPTION_BUDGET_KIND = defineKind<Budget>({
  type: {
    group: 'policy',
    version: 'v1',
    resource: 'poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    namespaced: true,
  },
  ownershipFrom: 'creation',
  finalizerNames: 'any',
  schema: 'io.k8s.api.policy.v1.PodDisruptionBudget',
  shortNames: ['pdb'],
  hasStatus: true,
  needsVersionOnUpdate: true,
  checkName: checkPathSegment,
  generationOf: ({ spec }) => spec,
  ...printed<Budget>(
    NAME,
    shown('Min Available', ({ spec }) => String(spec?.minAvailable ?? 'N/A')),
    shown('Max Unavailable', ({ spec }) => String(spec?.maxUnavailable ?? 'N/A')),
    shown('Allowed Disruptions', ({ status }) => status?.disruptionsAllowed ?? 0, 'integer'),
    AGE,
  ),
  prepareForCreate(object) {
    object.status = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 };
  },
  validate: ({ spec }, errors) => validateSpec(spec ?? {}, errors),
  validateUpdate(object, _old, subresource, errors) {
    if (subresource === '') validateSpec(object.spec ?? {}, errors);
    else {
      validateMetaConditions(object.status?.conditions ?? [], 'status.conditions', errors);
      validateNonNegative<Decoded<PodDisruptionBudgetStatus>>(
        object.status ?? {},
        ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'],
        'status',
        errors,
      );
    }
  },
});

/** As Kubernetes has it inside. */
function shownSpec(spec: Decoded<PodDisruptionBudgetSpec>): Record<string, unknown> {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy = null } = spec;
  return {
    MinAvailable: minAvailable,
    Selector: shownSelector(selector) ?? null,
    MaxUnavailable: maxUnavailable,
    UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy,
  };
}

function validateSpec(spec: Decoded<PodDisruptionBudgetSpec>, errors: FieldError[]): void {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined)
    errors.push(invalid('spec', shownSpec(spec), 'minAvailable and maxUnavailable cannot be both set'));
  for (const [field, value] of Object.entries({ minAvailable, maxUnavailable })) {
    if (value === undefined) continue;
    validateIntOrPercent(value, `spec.${field}`, errors);
    validateNotAboveAll(value, `spec.${field}`, errors);
  }
  if (selector) validateLabelSelector(selector, 'spec.selector', errors);
  if (policy !== undefined && !EVICTION_POLICIES.includes(policy))
    errors.push(notSupported('spec.unhealthyPodEvictionPolicy', policy, EVICTION_POLICIES));
}
