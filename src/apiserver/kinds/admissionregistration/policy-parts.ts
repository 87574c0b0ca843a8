import { checkDns1035Label, checkDns1123Subdomain, checkPathSegment } from '@rollkeeper/machinery/kubernetes';
import type {
  MatchResources,
  ParamKind,
  ParamRef,
  Variable,
} from '@rollkeeper/machinery/types/admissionregistration-v1';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { duplicate, forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import { validateLabelSelector } from '../validation/labels.js';
import { validateSyntax } from '../validation/words.js';
import type { CelType } from '../../cel/index.js';
import { validateExpression } from './request-expression.js';
import { compileVariables } from './request-variables.js';
import { validateRule } from './rules.js';
import { repeatedPlaces } from '../validation/repeated-places.js';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** The names that CEL keeps for itself. */
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const NOT_FOUND = ['Deny', 'Allow'];

export function defaultMatch(match: Decoded<MatchResources>): void {
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])])
    rule.scope ??= '*';
}

/** Validates the fields that policies of both sorts begin with. */
export function validateFailureAndParams(
  { failurePolicy, paramKind }: { readonly failurePolicy?: string; readonly paramKind?: Decoded<ParamKind> },
  errors: FieldError[],
): void {
  if (failurePolicy === undefined) errors.push(required('spec.failurePolicy'));
  else if (failurePolicy !== 'Fail' && failurePolicy !== 'Ignore')
    errors.push(notSupported('spec.failurePolicy', failurePolicy, ['Fail', 'Ignore']));
  if (paramKind) validateParamKind(paramKind, 'spec.paramKind', errors);
}

function validateParamKind(
  { apiVersion, kind }: Decoded<ParamKind>,
  path: string,
  errors: FieldError[],
): void {
  if (!apiVersion) errors.push(required(`${path}.apiVersion`));
  else validateGroupVersion(apiVersion, `${path}.apiVersion`, errors);
  if (!kind) errors.push(required(`${path}.kind`));
  else
    for (const problem of checkDns1035Label(kind.toLowerCase()))
      errors.push(
        invalid(`${path}.kind`, kind, `may have mixed case, but should otherwise match: ${problem}`),
      );
}

function validateGroupVersion(text: string, path: string, errors: FieldError[]): void {
  const parts = text === '/' ? [] : text.split('/');
  if (parts.length > 2) {
    errors.push(invalid(path, text, `unexpected GroupVersion string: ${text}`));
    return;
  }
  const [version = '', group = ''] = parts.reverse();
  if (group !== '') validateSyntax(group, checkDns1123Subdomain, path, errors);
  if (version === '') errors.push(invalid(path, text, 'version must be specified'));
  else validateSyntax(version, checkDns1035Label, path, errors);
}

/** @returns the type of `variables`, if there are any */
export function validateVariables(
  variables: Decoded<Variable>[] | undefined,
  errors: FieldError[],
  declarations: { readonly hasLiterals?: boolean; readonly hasParams: boolean },
): CelType | undefined {
  if (!variables?.length) return undefined;
  const { all, type } = compileVariables(variables, declarations);
  variables.forEach(({ name, expression }, index) => {
    const path = `spec.variables[${index}]`;
    if (!name?.trim()) errors.push(required(`${path}.name`, 'name is not specified'));
    else if (!IDENTIFIER.test(name) || RESERVED.has(name))
      errors.push(invalid(`${path}.name`, name, 'must be a valid CEL identifier'));
    if (!expression?.trim()) errors.push(required(`${path}.expression`, 'expression is not specified'));
    else validateExpression(all[index]!.expression, `${path}.expression`, [], errors);
  });
  return type;
}

export function validateMatch(match: Decoded<MatchResources>, path: string, errors: FieldError[]): void {
  if (match.matchPolicy !== undefined && match.matchPolicy !== 'Equivalent' && match.matchPolicy !== 'Exact')
    errors.push(notSupported(`${path}.matchPolicy`, match.matchPolicy, ['Equivalent', 'Exact']));
  if (match.namespaceSelector)
    validateLabelSelector(match.namespaceSelector, `${path}.namespaceSelector`, errors);
  if (match.objectSelector) validateLabelSelector(match.objectSelector, `${path}.objectSelector`, errors);
  for (const field of ['resourceRules', 'excludeResourceRules'] as const)
    match[field]?.forEach((rule, index) => {
      const at = `${path}.${field}[${index}]`;
      validateResourceNames(rule.resourceNames ?? [], `${at}.resourceNames`, errors);
      validateRule(rule, at, errors);
    });
}

function validateResourceNames(names: readonly string[], path: string, errors: FieldError[]): void {
  const repeated = repeatedPlaces(names);
  names.forEach((name, index) => {
    validateSyntax(name, checkPathSegment, `${path}[${index}]`, errors);
    if (repeated.has(index)) errors.push(duplicate(`${path}[${index}]`, name));
  });
}

export function validateParamRef(ref: Decoded<ParamRef>, path: string, errors: FieldError[]): void {
  const { name, selector, parameterNotFoundAction: action } = ref;
  if (name) {
    validateSyntax(name, checkPathSegment, `${path}.name`, errors);
    if (selector) errors.push(forbidden(`${path}.name`, 'name and selector are mutually exclusive'));
  }
  if (selector) {
    validateLabelSelector(selector, `${path}.selector`, errors);
    if (name) errors.push(forbidden(`${path}.selector`, 'name and selector are mutually exclusive'));
  } else if (!name) errors.push(required(path, 'one of name or selector must be specified'));
  if (!action) errors.push(required(`${path}.parameterNotFoundAction`));
  else if (!NOT_FOUND.includes(action))
    errors.push(notSupported(`${path}.parameterNotFoundAction`, action, NOT_FOUND));
}

/** As `kubectl get` shows it. */
export function paramRefText(ref: Decoded<ParamRef> | undefined): string {
  if (!ref) return '<unset>';
  return ref.namespace ? `${ref.namespace}/${ref.name ?? '*'}` : (ref.name ?? '*');
}
