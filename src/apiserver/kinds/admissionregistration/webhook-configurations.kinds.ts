import { checkDns1035Label, checkFullyQualifiedName, isOneOf } from '@rollkeeper/machinery/kubernetes';
import type { MutatingWebhook } from '@rollkeeper/machinery/types/admissionregistration-v1';
import type { Decoded, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { KindRules } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { duplicate, invalid, notSupported, required } from '../validation/field-errors.js';
import { validateLabelSelector } from '../validation/labels.js';
import { validateWebhookClient } from '../validation/webhook-clients.js';
import { validateSyntax } from '../validation/words.js';
import { validateMatchConditions } from './match-conditions.js';
import { ADMISSION_GROUP, validateRule } from './rules.js';
import { repeatedPlaces } from '../validation/repeated-places.js';

/** A mutating webhook has all that a validating one has. */
interface Configuration extends UnstructuredObject {
  webhooks?: Decoded<MutatingWebhook>[];
}

/** Versions of the reviews that the API server can send. */
const REVIEWS = ['v1', 'v1beta1'];

const SHARED: Omit<KindRules<Configuration>, 'type' | 'schema'> = {
  ownershipFrom: 'creation',
  needsVersionOnUpdate: true,
  generationOf: ({ webhooks }) => webhooks,
  ...printed<Configuration>(
    NAME,
    shown('Webhooks', ({ webhooks }) => webhooks?.length ?? 0, 'integer'),
    AGE,
  ),
  applyDefaults(object) {
    for (const hook of object.webhooks ?? []) defaultWebhook(hook, object.kind);
  },
  validate({ webhooks = [] }, errors) {
    const names = new Set<string>();
    webhooks.forEach((hook, index) => {
      const path = `webhooks[${index}]`;
      validateWebhook(hook, path, errors);
      if (hook.name && names.has(hook.name)) errors.push(duplicate(`${path}.name`, hook.name));
      names.add(hook.name ?? '');
    });
  },
};

export const VALIDATING_WEBHOOK_CONFIGURATION_KIND = defineKind<Configuration>({
  ...SHARED,
  type: {
    group: ADMISSION_GROUP,
    version: 'v1',
    resource: 'validatingwebhookconfigurations',
    kind: 'ValidatingWebhookConfiguration',
    namespaced: false,
  },
  finalizerNames: 'any',
  schema: 'io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration',
  categories: ['api-extensions'],
});

export const MUTATING_WEBHOOK_CONFIGURATION_KIND = defineKind<Configuration>({
  ...SHARED,
  type: {
    group: ADMISSION_GROUP,
    version: 'v1',
    resource: 'mutatingwebhookconfigurations',
    kind: 'MutatingWebhookConfiguration',
    namespaced: false,
  },
  finalizerNames: 'any',
  schema: 'io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration',
  categories: ['api-extensions'],
});

/** Source: SetDefaults_ValidatingWebhook and SetDefaults_MutatingWebhook in pkg/apis/admissionregistration/v1. */
function defaultWebhook(hook: Decoded<MutatingWebhook>, kind: string | undefined): void {
  hook.failurePolicy ??= 'Fail';
  hook.matchPolicy ??= 'Equivalent';
  hook.namespaceSelector ??= {};
  hook.objectSelector ??= {};
  hook.timeoutSeconds ??= 10;
  if (kind === 'MutatingWebhookConfiguration') hook.reinvocationPolicy ??= 'Never';
  if (hook.clientConfig?.service) hook.clientConfig.service.port ??= 443;
  for (const rule of hook.rules ?? []) rule.scope ??= '*';
}

/** Source: validateValidatingWebhook in pkg/apis/admissionregistration/validation/validation.go. */
function validateWebhook(hook: Decoded<MutatingWebhook>, path: string, errors: FieldError[]): void {
  if (!hook.name) errors.push(required(`${path}.name`));
  else validateSyntax(hook.name, checkFullyQualifiedName, `${path}.name`, errors);
  hook.rules?.forEach((rule, index) => validateRule(rule, `${path}.rules[${index}]`, errors));
  const words = [
    ['failurePolicy', ['Fail', 'Ignore']],
    ['matchPolicy', ['Equivalent', 'Exact']],
    ['sideEffects', ['None', 'NoneOnDryRun']],
    ['reinvocationPolicy', ['IfNeeded', 'Never']],
  ] as const;
  for (const [field, supported] of words) {
    const value = hook[field];
    if (value !== undefined && !isOneOf(value, supported))
      errors.push(notSupported(`${path}.${field}`, value, supported));
  }
  if (hook.sideEffects === undefined)
    errors.push(required(`${path}.sideEffects`, 'must specify one of None, NoneOnDryRun'));
  const seconds = hook.timeoutSeconds;
  if (seconds !== undefined && (seconds < 1 || seconds > 30))
    errors.push(
      invalid(`${path}.timeoutSeconds`, seconds, 'the timeout value must be between 1 and 30 seconds'),
    );
  if (hook.namespaceSelector)
    validateLabelSelector(hook.namespaceSelector, `${path}.namespaceSelector`, errors);
  if (hook.objectSelector) validateLabelSelector(hook.objectSelector, `${path}.objectSelector`, errors);
  validateWebhookClient(hook.clientConfig ?? {}, `${path}.clientConfig`, errors);
  validateMatchConditions(hook.matchConditions, `${path}.matchConditions`, errors);
  validateReviewVersions(hook.admissionReviewVersions ?? [], `${path}.admissionReviewVersions`, errors);
}

function validateReviewVersions(versions: readonly string[], path: string, errors: FieldError[]): void {
  if (versions.length === 0) {
    errors.push(required(path, `must specify one of ${REVIEWS.join(', ')}`));
    return;
  }
  const repeated = repeatedPlaces(versions);
  versions.forEach((version, index) => {
    const field = `${path}[${index}]`;
    if (repeated.has(index)) errors.push(invalid(field, version, 'duplicate version'));
    else validateSyntax(version, checkDns1035Label, field, errors);
  });
  if (!versions.some((version) => REVIEWS.includes(version)))
    errors.push(invalid(path, versions, `must include at least one of ${REVIEWS.join(', ')}`));
}
