import { checkDns1123Subdomain, checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicySpec,
} from '@rollkeeper/machinery/types/admissionregistration-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { ALL_BUT_STATUS } from '../kind-definition.js';
import type { FieldError } from '../kind-definition.js';
import { duplicate, invalid, notSupported, required } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';
import { validateMatchConditions } from './match-conditions.js';
import { compileRequestExpression, validateExpression } from './request-expression.js';
import {
  defaultMatch,
  paramRefText,
  validateFailureAndParams,
  validateMatch,
  validateParamRef,
  validateVariables,
} from './policy-parts.js';
import { ADMISSION_GROUP } from './rules.js';

type Policy = DecodedObject<ValidatingAdmissionPolicy>;
type Binding = DecodedObject<ValidatingAdmissionPolicyBinding>;

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized'];
const ACTIONS = ['Audit', 'Deny', 'Warn'];

/** Source: validateValidatingAdmissionPolicy in pkg/apis/admissionregistration/validation/validation.go. */
export const VALIDATING_ADMISSION_POLICY_KIND = defineKind<Policy>({
  type: {
    group: ADMISSION_GROUP,
    version: 'v1',
    resource: 'validatingadmissionpolicies',
    kind: 'ValidatingAdmissionPolicy',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  finalizerNames: 'any',
  schema: 'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy',
  categories: ['api-extensions'],
  keptWithStatus: ALL_BUT_STATUS,
  hasStatus: true,
  needsVersionOnUpdate: true,
  generationOf: ({ spec }) => spec,
  ...printed<Policy>(
    NAME,
    shown('Validations', ({ spec }) => spec?.validations?.length ?? 0, 'integer'),
    shown('ParamKind', ({ spec }) =>
      spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : '<unset>',
    ),
    AGE,
  ),
  applyDefaults({ spec }) {
    if (!spec) return;
    spec.failurePolicy ??= 'Fail';
    if (spec.matchConstraints) defaultMatch(spec.matchConstraints);
  },
  validate: ({ spec }, errors) => validatePolicy(spec ?? {}, errors),
});

function validatePolicy(spec: Decoded<ValidatingAdmissionPolicySpec>, errors: FieldError[]): void {
  const {
    failurePolicy,
    paramKind,
    matchConstraints,
    variables,
    validations = [],
    auditAnnotations = [],
  } = spec;
  validateFailureAndParams({ failurePolicy, paramKind }, errors);
  if (!matchConstraints) errors.push(required('spec.matchConstraints'));
  else {
    validateMatch(matchConstraints, 'spec.matchConstraints', errors);
    if (!matchConstraints.resourceRules?.length) errors.push(required('spec.matchConstraints.resourceRules'));
  }
  const names = validateVariables(variables, errors);
  if (validations.length === 0 && auditAnnotations.length === 0) {
    errors.push(required('spec.validations', 'validations or auditAnnotations must be specified'));
    errors.push(required('spec.auditAnnotations', 'validations or auditAnnotations must be specified'));
  }
  validations.forEach(({ expression, message, messageExpression, reason }, index) => {
    const path = `spec.validations[${index}]`;
    if (!expression?.trim()) errors.push(required(`${path}.expression`, 'expression is not specified'));
    else
      validateExpression(
        compileRequestExpression(expression, { variables: names }),
        `${path}.expression`,
        'bool',
        errors,
      );
    if (messageExpression?.trim())
      validateExpression(
        compileRequestExpression(messageExpression, { variables: names, hasAuthorizer: false }),
        `${path}.messageExpression`,
        'string',
        errors,
      );
    if (message !== undefined && message.trim() === '' && message !== '')
      errors.push(invalid(`${path}.message`, message, 'message must be non-empty if specified'));
    if (message?.includes('\n'))
      errors.push(invalid(`${path}.message`, message, 'message must not contain line breaks'));
    if (reason !== undefined && !REASONS.includes(reason))
      errors.push(notSupported(`${path}.reason`, reason, REASONS));
  });
  validateMatchConditions(spec.matchConditions, 'spec.matchConditions', errors);
  validateAudits(auditAnnotations, names, errors);
}

function validateAudits(
  annotations: NonNullable<Decoded<ValidatingAdmissionPolicySpec>['auditAnnotations']>,
  variables: readonly string[],
  errors: FieldError[],
): void {
  const keys = new Set<string>();
  annotations.forEach(({ key = '', valueExpression }, index) => {
    const path = `spec.auditAnnotations[${index}]`;
    if (!key) errors.push(required(`${path}.key`));
    else validateSyntax(key, checkQualifiedName, `${path}.key`, errors);
    if (!valueExpression?.trim()) errors.push(required(`${path}.valueExpression`));
    else
      validateExpression(
        compileRequestExpression(valueExpression, { variables }),
        `${path}.valueExpression`,
        undefined,
        errors,
      );
    if (keys.has(key)) errors.push(duplicate(`${path}.key`, key));
    keys.add(key);
  });
}

/** Source: validateValidatingAdmissionPolicyBinding. */
export const VALIDATING_ADMISSION_POLICY_BINDING_KIND = defineKind<Binding>({
  type: {
    group: ADMISSION_GROUP,
    version: 'v1',
    resource: 'validatingadmissionpolicybindings',
    kind: 'ValidatingAdmissionPolicyBinding',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  finalizerNames: 'any',
  schema: 'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding',
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
    const { policyName, paramRef, matchResources, validationActions = [] } = spec ?? {};
    if (!policyName) errors.push(required('spec.policyName'));
    else validateSyntax(policyName, checkDns1123Subdomain, 'spec.policyName', errors);
    if (paramRef) validateParamRef(paramRef, 'spec.paramRef', errors);
    if (matchResources) validateMatch(matchResources, 'spec.matchResources', errors);
    if (validationActions.length === 0) errors.push(required('spec.validationActions'));
    validationActions.forEach((action, index) => {
      const field = `spec.validationActions[${index}]`;
      if (!ACTIONS.includes(action)) errors.push(notSupported(field, action, ACTIONS));
      if (validationActions.indexOf(action) < index) errors.push(duplicate(field, action));
    });
    if (validationActions.includes('Deny') && validationActions.includes('Warn'))
      errors.push(
        invalid(
          'spec.validationActions',
          validationActions,
          'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
        ),
      );
  },
});
