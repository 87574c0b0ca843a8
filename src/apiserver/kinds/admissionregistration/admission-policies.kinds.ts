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
import type { RequestDeclarations } from './request-expression.js';
import {
  defaultMatch,
  paramRefText,
  validateFailureAndParams,
  validateMatch,
  validateParamRef,
  validateVariables,
} from './policy-parts.js';
import { ADMISSION_GROUP } from './rules.js';
import { repeatedPlaces } from '../validation/repeated-places.js';

type Policy = DecodedObject<ValidatingAdmissionPolicy>;
type Binding = DecodedObject<ValidatingAdmissionPolicyBinding>;

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const MAX_AUDITS = 20;
const MAX_AUDIT_LENGTH = 5 * 1024;
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
  validate: ({ metadata, spec }, errors) => validatePolicy(metadata.name, spec ?? {}, errors),
});

type Spec = Decoded<ValidatingAdmissionPolicySpec>;

function validatePolicy(name: string | undefined, spec: Spec, errors: FieldError[]): void {
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
  const hasParams = paramKind !== undefined;
  validateMatchConditions(spec.matchConditions, 'spec.matchConditions', errors, { hasParams });
  const known = { variables: validateVariables(variables, errors, { hasParams }), hasParams };
  if (validations.length === 0 && auditAnnotations.length === 0)
    for (const field of ['validations', 'auditAnnotations'])
      errors.push(
        required(`spec.${field}`, 'validations or auditAnnotations must contain at least one item'),
      );
  validations.forEach((validation, index) =>
    validateValidation(validation, known, `spec.validations[${index}]`, errors),
  );
  validateAudits(name ?? '', auditAnnotations, known, errors);
}

type Known = Pick<RequestDeclarations, 'hasParams' | 'variables'>;

function validateValidation(
  { expression, message = '', messageExpression, reason }: NonNullable<Spec['validations']>[number],
  known: Known,
  path: string,
  errors: FieldError[],
): void {
  if (!expression?.trim()) errors.push(required(`${path}.expression`, 'expression is not specified'));
  else
    validateExpression(compileRequestExpression(expression, known), `${path}.expression`, ['bool'], errors);
  if (messageExpression?.trim())
    validateExpression(
      compileRequestExpression(messageExpression, { ...known, hasAuthorizer: false }),
      `${path}.messageExpression`,
      ['string'],
      errors,
    );
  else if (messageExpression)
    errors.push(invalid(`${path}.messageExpression`, messageExpression, 'must be non-empty if specified'));
  if (message !== '' && message.trim() === '')
    errors.push(invalid(`${path}.message`, message, 'must be non-empty if specified'));
  else if (/[\n\r]/.test(message.trim()))
    errors.push(invalid(`${path}.message`, message, 'must not contain line breaks'));
  if (reason !== undefined && !REASONS.includes(reason))
    errors.push(notSupported(`${path}.reason`, reason, REASONS));
}

/** The name of the policy is a part of each key in the audit log. */
function validateAudits(
  name: string,
  annotations: NonNullable<Spec['auditAnnotations']>,
  known: Known,
  errors: FieldError[],
): void {
  const keys = new Set<string>();
  if (annotations.length > MAX_AUDITS)
    errors.push(
      invalid('spec.auditAnnotations', annotations, `must not have more than ${MAX_AUDITS} auditAnnotations`),
    );
  annotations.forEach(({ key = '', valueExpression = '' }, index) => {
    const path = `spec.auditAnnotations[${index}]`;
    const trimmed = valueExpression.trim();
    if (name === '') errors.push(invalid(`${path}.key`, key, 'requires metadata.name be non-empty'));
    else validateSyntax(`${name}/${key}`, checkQualifiedName, `${path}.key`, errors);
    if (trimmed === '') errors.push(required(`${path}.valueExpression`, 'valueExpression is not specified'));
    else if (Buffer.byteLength(trimmed) > MAX_AUDIT_LENGTH)
      errors.push(required(`${path}.valueExpression`, `must not exceed ${MAX_AUDIT_LENGTH} bytes in length`));
    else
      validateExpression(
        compileRequestExpression(trimmed, known),
        `${path}.valueExpression`,
        ['string', 'null_type'],
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
    const repeated = repeatedPlaces(validationActions);
    validationActions.forEach((action, index) => {
      const field = `spec.validationActions[${index}]`;
      if (!ACTIONS.includes(action)) errors.push(notSupported(field, action, ACTIONS));
      if (repeated.has(index)) errors.push(duplicate(field, action));
    });
    if (validationActions.includes('Deny') && validationActions.includes('Warn'))
      errors.push(
        invalid(
          'spec.validationActions',
          validationActions,
          'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
        ),
      );
    if (validationActions.length === 0)
      errors.push(required('spec.validationActions', 'at least one validation action is required'));
  },
});
