import { checkPathSegment } from '@rollkeeper/machinery/kubernetes';
import type {
  MatchResources,
  ParamKind,
  ParamRef,
  Variable,
} from '@rollkeeper/machinery/types/admissionregistration-v1';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import { validateLabelSelector } from '../validation/labels.js';
import { validateSyntax } from '../validation/words.js';
import { compileRequestExpression, validateExpression } from './request-expression.js';
import { validateRule } from './rules.js';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const NOT_FOUND = ['Deny', 'Allow'];

export function defaultMatch(match: Decoded<MatchResources>): void {
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])])
    rule.scope ??= '*';
}

/** What policies of both sorts say first. */
export function validateFailureAndParams(
  { failurePolicy, paramKind }: { readonly failurePolicy?: string; readonly paramKind?: Decoded<ParamKind> },
  errors: FieldError[],
): void {
  if (failurePolicy === undefined) errors.push(required('spec.failurePolicy'));
  else if (failurePolicy !== 'Fail' && failurePolicy !== 'Ignore')
    errors.push(notSupported('spec.failurePolicy', failurePolicy, ['Fail', 'Ignore']));
  if (paramKind) {
    if (!paramKind.apiVersion) errors.push(required('spec.paramKind.apiVersion'));
    if (!paramKind.kind) errors.push(required('spec.paramKind.kind'));
  }
}

/** @returns the names of the variables; each may use those before it */
export function validateVariables(
  variables: Decoded<Variable>[] | undefined,
  errors: FieldError[],
  hasLiterals = false,
): string[] {
  const names = (variables ?? []).map(({ name = '' }) => name);
  variables?.forEach(({ name, expression }, index) => {
    const path = `spec.variables[${index}]`;
    if (!name) errors.push(required(`${path}.name`, 'name is not specified'));
    else if (!IDENTIFIER.test(name))
      errors.push(invalid(`${path}.name`, name, 'name is not a valid CEL identifier'));
    if (!expression?.trim()) errors.push(required(`${path}.expression`, 'expression is not specified'));
    else
      validateExpression(
        compileRequestExpression(expression, { variables: names.slice(0, index), hasLiterals }),
        `${path}.expression`,
        undefined,
        errors,
      );
  });
  return names;
}

export function validateMatch(match: Decoded<MatchResources>, path: string, errors: FieldError[]): void {
  if (match.matchPolicy !== undefined && match.matchPolicy !== 'Equivalent' && match.matchPolicy !== 'Exact')
    errors.push(notSupported(`${path}.matchPolicy`, match.matchPolicy, ['Equivalent', 'Exact']));
  if (match.namespaceSelector)
    validateLabelSelector(match.namespaceSelector, `${path}.namespaceSelector`, errors);
  if (match.objectSelector) validateLabelSelector(match.objectSelector, `${path}.objectSelector`, errors);
  for (const field of ['resourceRules', 'excludeResourceRules'] as const)
    match[field]?.forEach((rule, index) => validateRule(rule, `${path}.${field}[${index}]`, errors));
}

export function validateParamRef(ref: Decoded<ParamRef>, path: string, errors: FieldError[]): void {
  const { name, selector, parameterNotFoundAction: action } = ref;
  if (name) {
    validateSyntax(name, checkPathSegment, `${path}.name`, errors);
    if (selector) errors.push(forbidden(`${path}.name`, 'name and selector are mutually exclusive'));
  } else if (!selector) errors.push(required(path, 'one of name or selector must be specified'));
  if (selector) validateLabelSelector(selector, `${path}.selector`, errors);
  if (!action) errors.push(required(`${path}.parameterNotFoundAction`));
  else if (!NOT_FOUND.includes(action))
    errors.push(notSupported(`${path}.parameterNotFoundAction`, action, NOT_FOUND));
}

/** As `kubectl get` shows it. */
export function paramRefText(ref: Decoded<ParamRef> | undefined): string {
  if (!ref) return '<unset>';
  return ref.namespace ? `${ref.namespace}/${ref.name ?? '*'}` : (ref.name ?? '*');
}
