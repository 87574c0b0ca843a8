import { FIELD_IMMUTABLE, isOneOf, NANOS, nanosOf, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { ResourceQuota as IResourceQuota, ResourceQuotaSpec } from '@rollkeeper/machinery/types/core-v1';
import type { Amounts, Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from '../validation/field-errors.js';
import { validateNonNegativeAmount } from '../validation/quantities.js';
import {
  isIntegerResource,
  isQuotaResource,
  validateQuotaResourceName,
} from '../validation/resource-names.js';

type ResourceQuota = DecodedObject<IResourceQuota>;

/** Source: ValidateResourceQuota in pkg/apis/core/validation/validation.go. */
export const RESOURCE_QUOTA_KIND = defineKind<ResourceQuota>({
  type: { group: '', version: 'v1', resource: 'resourcequotas', kind: 'ResourceQuota', namespaced: true },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.core.v1.ResourceQuota',
  answersDeleted: true,
  shortNames: ['quota'],
  hasStatus: true,
  ...printed<ResourceQuota>(
    NAME,
    shown('Request', (quota) => usage(quota, false)),
    shown('Limit', (quota) => usage(quota, true)),
    AGE,
  ),
  validate: ({ spec }, errors) => validateSpec(spec ?? {}, errors),
  validateUpdate(object, old, subresource, errors) {
    if (subresource === 'status') {
      for (const field of ['hard', 'used'] as const)
        validateAmounts(object.status?.[field], `status.${field}`, errors);
      return;
    }
    validateSpec(object.spec ?? {}, errors);
    const scopes = new Set(object.spec?.scopes);
    const before = new Set(old.spec?.scopes);
    if (!sameMeaning([...scopes].sort(), [...before].sort()))
      errors.push(invalid('spec.scopes', object.spec?.scopes, FIELD_IMMUTABLE));
  },
});

const SCOPES = [
  'BestEffort',
  'CrossNamespacePodAffinity',
  'NotBestEffort',
  'NotTerminating',
  'PriorityClass',
  'Terminating',
  'VolumeAttributesClass',
];
const COMPUTE = new Set(['cpu', 'memory', 'ephemeral-storage']);

function validateSpec(spec: Decoded<ResourceQuotaSpec>, errors: FieldError[]): void {
  validateAmounts(spec.hard, 'spec.hard', errors);
  const scopes = [...new Set(spec.scopes)];
  for (const scope of scopes) {
    if (SCOPES.includes(scope))
      validateNarrowed(scope, spec, { field: 'spec.scopes', value: scopes }, errors);
    else errors.push(invalid('spec.scopes', scopes, 'unsupported scope'));
  }
  const selected = spec.scopeSelector?.matchExpressions ?? [];
  const names = selected.map(({ scopeName = '' }) => scopeName);
  const path = 'spec.scopeSelector.matchExpressions';
  // Made once: each requirement may be complained about, and each complaint shows all of them.
  const selector = shownScopes(selected);
  selected.forEach(({ scopeName = '', operator, values = [] }) => {
    if (SCOPES.includes(scopeName))
      validateNarrowed(scopeName, spec, { field: path, value: selector }, errors);
    else errors.push(invalid(`${path}.scopeName`, scopeName, 'unsupported scope'));
    const needsExists = !['PriorityClass', 'VolumeAttributesClass'].includes(scopeName);
    if (needsExists && operator !== 'Exists' && SCOPES.includes(scopeName))
      errors.push(
        invalid(
          `${path}.operator`,
          operator,
          "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
        ),
      );
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0)
        errors.push(
          required(
            `${path}.values`,
            "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
          ),
        );
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0)
        errors.push(
          invalid(
            `${path}.values`,
            values,
            "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
          ),
        );
    } else errors.push(invalid(`${path}.operator`, operator ?? '', 'not a valid selector operator'));
  });
  for (const [field, all] of [
    ['spec.scopes', scopes],
    [path, names],
  ] as const)
    for (const pair of [
      ['BestEffort', 'NotBestEffort'],
      ['Terminating', 'NotTerminating'],
    ])
      if (pair.every((scope) => isOneOf(scope, all))) errors.push(invalid(field, all, 'conflicting scopes'));
}

/**
 * Tells whether a scope may narrow a resource. Source: IsResourceQuotaScopeValidForResource in pkg/apis/core/helper.
 */
function isNarrowedBy(scope: string, resource: string): boolean {
  switch (scope) {
    case 'BestEffort':
      return resource === 'pods';
    case 'VolumeAttributesClass':
      return resource === 'persistentvolumeclaims' || resource === 'requests.storage';
    default:
      return resource === 'pods' || COMPUTE.has(resource.replace(/^(?:requests|limits)\./, ''));
  }
}

/** An error for each resource that a scope has nothing to do with. */
function validateNarrowed(
  scope: string,
  { hard }: Decoded<ResourceQuotaSpec>,
  { field, value }: { readonly field: string; readonly value: unknown },
  errors: FieldError[],
): void {
  for (const name of Object.keys(hard ?? {}).filter(isQuotaResource))
    if (!isNarrowedBy(scope, name))
      errors.push(invalid(field, value, 'unsupported scope applied to resource'));
}

function validateAmounts(amounts: Amounts | undefined, path: string, errors: FieldError[]): void {
  for (const name in amounts) {
    const field = `${path}[${name}]`;
    const amount = amounts[name] ?? '0';
    validateQuotaResourceName(name, field, errors);
    validateNonNegativeAmount(amount, field, errors);
    if (isIntegerResource(name) && !isWhole(nanosOf(amount)))
      errors.push(invalid(field, String(amount), 'must be an integer'));
  }
}

const MAX_INT64 = 2n ** 63n - 1n;
const MILLI = NANOS / 1000n;

/** A genuine server counts in thousandths, of which the most that it can count is no whole number. */
function isWhole(nanos: bigint): boolean {
  const thousandths = nanos / MILLI;
  return nanos % NANOS === 0n && thousandths <= MAX_INT64;
}

type Requirements = NonNullable<NonNullable<Decoded<ResourceQuotaSpec>['scopeSelector']>['matchExpressions']>;

/** As Kubernetes has it inside. */
function shownScopes(requirements: Requirements): object {
  return {
    MatchExpressions: requirements.map(({ scopeName = '', operator = '', values }) => ({
      ScopeName: scopeName,
      Operator: operator,
      Values: values ?? null,
    })),
  };
}

/** `pods: 1/10, cpu: 0/4`. */
function usage({ status }: Readonly<ResourceQuota>, ofLimits: boolean): string {
  return Object.keys(status?.hard ?? {})
    .sort()
    .filter((name) => name.startsWith('limits.') === ofLimits)
    .map((name) => `${name}: ${status?.used?.[name] ?? '0'}/${status?.hard?.[name] ?? '0'}`)
    .join(', ');
}
