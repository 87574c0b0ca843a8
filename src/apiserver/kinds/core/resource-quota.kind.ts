import { FIELD_IMMUTABLE, isOneOf, NANOS, nanosOf, semanticEqual } from '@rollkeeper/machinery/kubernetes';
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
    if (!semanticEqual([...scopes].sort(), [...before].sort()))
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
  for (const scope of scopes)
    validateScope(scope, { field: 'spec.scopes', value: scopes, all: scopes }, spec, errors);
  const selected = spec.scopeSelector?.matchExpressions ?? [];
  const names = selected.map(({ scopeName = '' }) => scopeName);
  const path = 'spec.scopeSelector.matchExpressions';
  selected.forEach(({ scopeName = '', operator, values = [] }) => {
    const shown = { field: `${path}.scopeName`, value: scopeName, all: names };
    validateScope(scopeName, shown, spec, errors);
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

function validateScope(
  scope: string,
  { all, field, value }: { readonly all: readonly string[]; readonly field: string; readonly value: unknown },
  { hard }: Decoded<ResourceQuotaSpec>,
  errors: FieldError[],
): void {
  if (!SCOPES.includes(scope)) {
    errors.push(invalid(field, value, 'unsupported scope'));
    return;
  }
  for (const name of Object.keys(hard ?? {}).filter(isQuotaResource)) {
    const bare = name.replace(/^(requests|limits)\./, '');
    const isOfPods = name === 'pods' || COMPUTE.has(bare);
    const isAllowed =
      scope === 'BestEffort' ? name === 'pods' : isOfPods || scope === 'VolumeAttributesClass';
    if (!isAllowed) {
      errors.push(invalid(field, all, 'unsupported scope applied to resource'));
      return;
    }
  }
}

function validateAmounts(amounts: Amounts | undefined, path: string, errors: FieldError[]): void {
  for (const name in amounts) {
    const field = `${path}[${name}]`;
    const amount = amounts[name] ?? '0';
    validateQuotaResourceName(name, field, errors);
    validateNonNegativeAmount(amount, field, errors);
    if (isIntegerResource(name) && nanosOf(amount) % NANOS !== 0n)
      errors.push(invalid(field, String(amount), 'must be an integer'));
  }
}

/** `pods: 1/10, cpu: 0/4`. */
function usage({ status }: Readonly<ResourceQuota>, ofLimits: boolean): string {
  return Object.keys(status?.hard ?? {})
    .sort()
    .filter((name) => name.startsWith('limits.') === ofLimits)
    .map((name) => `${name}: ${status?.used?.[name] ?? '0'}/${status?.hard?.[name] ?? '0'}`)
    .join(', ');
}
