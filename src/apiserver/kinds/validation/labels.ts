import { checkLabelValue, checkQualifiedName, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DeepReadonly, LabelSelector } from '@rollkeeper/machinery/kubernetes';
import { asWritten } from '../../schema/index.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, required, tooLong } from './field-errors.js';

const MAX_ANNOTATION_BYTES = 256 * 1024;

type StringMap = Readonly<Record<string, string>>;

export function validateLabels(labels: StringMap | undefined, field: string, errors: FieldError[]): void {
  for (const key in labels) {
    for (const problem of checkQualifiedName(key)) errors.push(invalid(field, key, problem));
    const value = labels[key] ?? '';
    for (const problem of checkLabelValue(value)) errors.push(invalid(field, value, problem));
  }
}

export function validateAnnotations(
  annotations: StringMap | undefined,
  field: string,
  errors: FieldError[],
): void {
  let size = 0;
  for (const key in annotations) {
    for (const problem of checkQualifiedName(key.toLowerCase())) errors.push(invalid(field, key, problem));
    size += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] ?? '');
  }
  if (size > MAX_ANNOTATION_BYTES) errors.push(tooLong(field, MAX_ANNOTATION_BYTES));
}

const OPERATORS_WITH_VALUES = new Set(['In', 'NotIn']);
const OPERATORS_WITHOUT_VALUES = new Set(['Exists', 'DoesNotExist']);

/** @returns whether the selector can be used to select */
export function validateLabelSelector(
  selector: DeepReadonly<Decoded<LabelSelector>>,
  field: string,
  errors: FieldError[],
): boolean {
  const before = errors.length;
  validateLabels(selector.matchLabels, `${field}.matchLabels`, errors);
  selector.matchExpressions?.forEach((expression, index) => {
    const path = `${field}.matchExpressions[${index}]`;
    if (!isKnownOperator(expression.operator))
      errors.push(invalid(`${path}.operator`, expression.operator ?? '', 'not a valid selector operator'));
    validateOperands(expression, path, errors);
    validateLabelOperands(expression, path, errors);
  });
  return errors.length === before;
}

type Requirement = NonNullable<DeepReadonly<Decoded<LabelSelector>>['matchExpressions']>[number];

function isKnownOperator(operator = ''): boolean {
  return OPERATORS_WITH_VALUES.has(operator) || OPERATORS_WITHOUT_VALUES.has(operator);
}

/** Whether there are values is for the operator to say. One that is not known says nothing. */
export function validateOperands(
  { operator = '', values = [] }: Requirement,
  path: string,
  errors: FieldError[],
): void {
  if (OPERATORS_WITH_VALUES.has(operator) && values.length === 0)
    errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  if (OPERATORS_WITHOUT_VALUES.has(operator) && values.length > 0)
    errors.push(
      forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
    );
}

export function validateLabelOperands(
  { key = '', values = [] }: Requirement,
  path: string,
  errors: FieldError[],
): void {
  for (const problem of checkQualifiedName(key)) errors.push(invalid(`${path}.key`, key, problem));
  values.forEach((value, at) => {
    for (const problem of checkLabelValue(value))
      errors.push(invalid(`${path}.values[${at}]`, value, problem));
  });
}

/** A map as it appears in error messages: sorted by key. */
export function sortedMap<T>(
  map: Readonly<Record<string, T>> | undefined,
): Readonly<Record<string, T>> | undefined {
  return map && Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A field that is a map, as it appears in error messages: sorted by key, and `{}` only if it was written like that. */
export function shownMap(struct: object | undefined, field: string): unknown {
  const map = asWritten(struct, field);
  return isJsonObject(map) ? sortedMap(map) : (map ?? null);
}

/** A selector as it appears in error messages. */
export function shownSelector(
  selector: DeepReadonly<Decoded<LabelSelector>> | undefined,
): DeepReadonly<Decoded<LabelSelector>> | undefined {
  if (!selector) return undefined;
  const { matchExpressions, matchLabels } = selector;
  return {
    ...(matchLabels && { matchLabels: sortedMap(matchLabels) }),
    ...(matchExpressions && { matchExpressions: matchExpressions.map(shownExpression) }),
  };
}

type Expression = NonNullable<DeepReadonly<Decoded<LabelSelector>>['matchExpressions']>[number];

function shownExpression({ key = '', operator = '', values }: Expression): Expression {
  return { key, operator, ...(values && { values }) };
}
