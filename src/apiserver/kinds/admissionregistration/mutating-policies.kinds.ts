import { checkDns1123Subdomain } from '@rollkeeper/machinery/kubernetes';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicySpec,
  Mutation,
} from '@rollkeeper/machinery/types/admissionregistration-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { invalid, notSupported, required } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';
import { validateMatchConditions } from './match-conditions.js';
import {
  defaultMatch,
  paramRefText,
  validateFailureAndParams,
  validateMatch,
  validateParamRef,
  validateVariables,
} from './policy-parts.js';
import { compileRequestExpression, validateExpression } from './request-expression.js';
import type { RequestDeclarations } from './request-expression.js';
import { ADMISSION_GROUP } from './rules.js';

type Policy = DecodedObject<MutatingAdmissionPolicy>;
type Binding = DecodedObject<MutatingAdmissionPolicyBinding>;

const REINVOCATIONS = ['IfNeeded', 'Never'];
/** There is nothing to change in what is deleted. */
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
/** The field that says how an object is changed, and the type of its expression, by the type of the patch. */
const PATCHES = {
  ApplyConfiguration: { field: 'applyConfiguration', result: 'Object' },
  JSONPatch: { field: 'jsonPatch', result: 'list(JSONPatch)' },
} as const;

/** Source: validateMutatingAdmissionPolicy in pkg/apis/admissionregistration/validation/validation.go. */
export const MUTATING_ADMISSION_POLICY_KIND = defineKind<Policy>({
  type: {
    group: ADMISSION_GROUP,
    version: 'v1',
    resource: 'mutatingadmissionpolicies',
    kind: 'MutatingAdmissionPolicy',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  finalizerNames: 'any',
  schema: 'io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicy',
  categories: ['api-extensions'],
  needsVersionOnUpdate: true,
  generationOf: ({ spec }) => spec,
  ...printed<Policy>(
    NAME,
    shown('Mutations', ({ spec }) => spec?.mutations?.length ?? 0, 'integer'),
    shown('ParamKind', ({ spec }) =>
      spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : '<unset>',
    ),
    AGE,
  ),
  applyDefaults(object) {
    const spec = (object.spec ??= {});
    spec.failurePolicy ??= 'Fail';
    if (spec.matchConstraints) defaultMatch(spec.matchConstraints);
  },
  validate: ({ spec }, errors) => validatePolicy(spec ?? {}, errors),
});

function validatePolicy(spec: Decoded<MutatingAdmissionPolicySpec>, errors: FieldError[]): void {
  const { matchConstraints, mutations = [], reinvocationPolicy } = spec;
  validateFailureAndParams(spec, errors);
  if (!matchConstraints) errors.push(required('spec.matchConstraints'));
  else {
    validateMatch(matchConstraints, 'spec.matchConstraints', errors);
    if (!matchConstraints.resourceRules?.length) errors.push(required('spec.matchConstraints.resourceRules'));
    validateOperations(matchConstraints, 'spec.matchConstraints', errors);
  }
  const hasParams = spec.paramKind !== undefined;
  validateMatchConditions(spec.matchConditions, 'spec.matchConditions', errors, { hasParams });
  const variables = validateVariables(spec.variables, errors, { hasLiterals: true, hasParams });
  if (mutations.length === 0)
    errors.push(required('spec.mutations', 'mutations must contain at least one item'));
  mutations.forEach((mutation, index) =>
    validateMutation(mutation, { variables, hasParams }, `spec.mutations[${index}]`, errors),
  );
  if (!reinvocationPolicy) errors.push(required('spec.reinvocationPolicy'));
  else if (!REINVOCATIONS.includes(reinvocationPolicy))
    errors.push(notSupported('spec.reinvocationPolicy', reinvocationPolicy, REINVOCATIONS));
}

function validateOperations(
  { resourceRules = [] }: NonNullable<Decoded<MutatingAdmissionPolicySpec>['matchConstraints']>,
  path: string,
  errors: FieldError[],
): void {
  for (const { operations = [] } of resourceRules)
    for (const operation of operations)
      if (!OPERATIONS.includes(operation))
        errors.push(notSupported(`${path}.resourceRules.operations`, operation, OPERATIONS));
}

function validateMutation(
  mutation: Decoded<Mutation>,
  known: Pick<RequestDeclarations, 'hasParams' | 'variables'>,
  path: string,
  errors: FieldError[],
): void {
  const { patchType } = mutation;
  if (!patchType) {
    errors.push(required(`${path}.patchType`));
    return;
  }
  if (patchType !== 'ApplyConfiguration' && patchType !== 'JSONPatch') {
    errors.push(notSupported(`${path}.patchType`, patchType, Object.keys(PATCHES)));
    return;
  }
  const { field, result } = PATCHES[patchType];
  const other = patchType === 'JSONPatch' ? 'applyConfiguration' : 'jsonPatch';
  const patch = mutation[field];
  if (!patch) errors.push(required(`${path}.${field}`, `must be specified when patchType is ${patchType}`));
  else if (!patch.expression?.trim())
    errors.push(required(`${path}.${field}.expression`, 'expression is not specified'));
  else {
    const compiled = compileRequestExpression(patch.expression, { ...known, hasLiterals: true });
    const given = compiled.program?.resultType ?? '';
    // A list that is empty, or whose items differ by a condition, says nothing more about its items.
    const isSomeList = result !== 'Object' && given.startsWith('list<');
    const wanted = isSomeList || given === 'dyn' ? [] : [result];
    validateExpression(compiled, `${path}.${field}.expression`, wanted, errors);
  }
  if (mutation[other])
    errors.push(
      invalid(`${path}.${other}`, `{${other}}`, `must not be specified when patchType is ${patchType}`),
    );
}

/** Source: validateMutatingAdmissionPolicyBinding. */
export const MUTATING_ADMISSION_POLICY_BINDING_KIND = defineKind<Binding>({
  type: {
    group: ADMISSION_GROUP,
    version: 'v1',
    resource: 'mutatingadmissionpolicybindings',
    kind: 'MutatingAdmissionPolicyBinding',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  finalizerNames: 'any',
  schema: 'io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBinding',
  categories: ['api-extensions'],
  needsVersionOnUpdate: true,
  generationOf: ({ spec }) => spec,
  ...printed<Binding>(
    NAME,
    shown('PolicyName', ({ spec }) => spec?.policyName ?? ''),
    shown('ParamRef', ({ spec }) => paramRefText(spec?.paramRef)),
    AGE,
  ),
  applyDefaults({ spec }) {
    if (spec?.matchResources) defaultMatch(spec.matchResources);
  },
  validate({ spec }, errors) {
    const { policyName, paramRef, matchResources } = spec ?? {};
    if (!policyName) errors.push(required('spec.policyName'));
    else validateSyntax(policyName, checkDns1123Subdomain, 'spec.policyName', errors);
    if (paramRef) validateParamRef(paramRef, 'spec.paramRef', errors);
    if (!matchResources) return;
    validateMatch(matchResources, 'spec.matchResources', errors);
    validateOperations(matchResources, 'spec.matchResources', errors);
  },
});
