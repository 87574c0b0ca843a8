import { randomUUID } from 'node:crypto';
import type { LimitRange as ILimitRange, LimitRangeItem } from '@rollkeeper/machinery/types/core-v1';
import { checkQualifiedName, nanosOf, ownField } from '@rollkeeper/machinery/kubernetes';
import type { Amounts, Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { CREATED_AT, NAME, printed } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { duplicate, forbidden, invalid, required } from '../validation/field-errors.js';
import {
  validateContainerResourceName,
  validateQualifiedResourceName,
} from '../validation/resource-names.js';

type LimitRange = DecodedObject<ILimitRange>;

/** Source: ValidateLimitRange in pkg/apis/core/validation/validation.go, SetDefaults_LimitRangeItem. */
export const LIMIT_RANGE_KIND = defineKind<LimitRange>({
  type: { group: '', version: 'v1', resource: 'limitranges', kind: 'LimitRange', namespaced: true },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.core.v1.LimitRange',
  shortNames: ['limits'],
  ...printed<LimitRange>(NAME, CREATED_AT),
  applyDefaults({ spec }) {
    for (const item of spec?.limits ?? []) if (item.type === 'Container') defaultItem(item);
  },
  prepareForCreate({ metadata }) {
    metadata.name ||= randomUUID();
  },
  validate({ spec }, errors) {
    const types = new Set<string>();
    spec?.limits?.forEach((item, index) => {
      const path = `spec.limits[${index}]`;
      const { type = '' } = item;
      validateType(type, `${path}.type`, errors);
      if (types.has(type)) errors.push(duplicate(`${path}.type`, type));
      types.add(type);
      validateItem(item, path, errors);
    });
  },
});

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];

function validateType(type: string, path: string, errors: FieldError[]): void {
  const problems = checkQualifiedName(type);
  for (const problem of problems) errors.push(invalid(path, type, problem));
  if (problems.length === 0 && !type.includes('/') && !TYPES.includes(type))
    errors.push(invalid(path, type, 'must be a standard limit type or fully qualified'));
}

/** A missing value follows from the others: the limit from the most, the request from limit or least. */
function defaultItem(item: Decoded<LimitRangeItem>): void {
  item.default = completed(item.max, item.default);
  item.defaultRequest = completed(item.default, item.defaultRequest);
  item.defaultRequest = completed(item.min, item.defaultRequest);
}

function completed(from: Amounts | undefined, own: Amounts | undefined): Amounts | undefined {
  return from && Object.keys(from).length > 0 ? { ...from, ...own } : own;
}

const FIELDS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

function validateItem(item: Decoded<LimitRangeItem>, path: string, errors: FieldError[]): void {
  const names = new Set<string>();
  for (const field of FIELDS) {
    for (const name in item[field]) {
      names.add(name);
      const at = `${path}.${field}[${name}]`;
      if (item.type === 'Container') validateContainerResourceName(name, at, errors);
      else validateQualifiedResourceName(name, at, errors);
    }
  }
  if (item.type === 'Pod') {
    for (const field of ['default', 'defaultRequest'] as const)
      if (item[field] && Object.keys(item[field]).length > 0)
        errors.push(forbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'"));
  }
  if (
    item.type === 'PersistentVolumeClaim' &&
    item.min?.storage === undefined &&
    item.max?.storage === undefined
  )
    errors.push(
      required(
        `${path}.limits`,
        'either minimum or maximum storage value is required, but neither was provided',
      ),
    );
  for (const name of names) validateRelations(item, name, path, errors);
}

/** min ≤ defaultRequest ≤ default ≤ max, for what is said of one resource. */
function validateRelations(
  item: Decoded<LimitRangeItem>,
  name: string,
  path: string,
  errors: FieldError[],
): void {
  const min = ownField(item.min, name);
  const max = ownField(item.max, name);
  const request = ownField(item.defaultRequest, name);
  const limit = ownField(item.default, name);
  const ratio = ownField(item.maxLimitRequestRatio, name);
  type Value = string | number | undefined;
  const isAbove = (a: Value, b: Value): boolean =>
    a !== undefined && b !== undefined && nanosOf(a) > nanosOf(b);
  const complain = (field: string, value: Value, problem: string): void => {
    errors.push(invalid(`${path}.${field}[${name}]`, String(value), problem));
  };
  if (isAbove(min, max)) complain('min', min, `min value ${min} is greater than max value ${max}`);
  if (isAbove(min, request))
    complain('defaultRequest', request, `min value ${min} is greater than default request value ${request}`);
  if (isAbove(request, max))
    complain('defaultRequest', request, `default request value ${request} is greater than max value ${max}`);
  if (isAbove(request, limit))
    complain(
      'defaultRequest',
      request,
      `default request value ${request} is greater than default limit value ${limit}`,
    );
  if (isAbove(min, limit))
    complain('default', min, `min value ${min} is greater than default value ${limit}`);
  if (isAbove(limit, max))
    complain('default', max, `default value ${limit} is greater than max value ${max}`);
  if (ratio === undefined) return;
  if (nanosOf(ratio) < nanosOf(1)) complain('maxLimitRequestRatio', ratio, `ratio ${ratio} is less than 1`);
  if (min !== undefined && max !== undefined && nanosOf(min) !== 0n) {
    const most = Number(nanosOf(max)) / Number(nanosOf(min));
    if (Number(nanosOf(ratio)) / 1e9 > most)
      complain('maxLimitRequestRatio', ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`);
  }
}
