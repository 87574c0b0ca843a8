import type { DecodedObject, Int64 } from '@rollkeeper/machinery/kubernetes';
import {
  EVICTION_FAILED,
  EvictionRequest,
  FIELD_IMMUTABLE,
  TARGET_EVICTED,
  findCondition,
} from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { ALL_BUT_STATUS } from '../kind-definition.js';
import type { FieldError } from '../kind-definition.js';
import { validateMetaConditions } from '../validation/conditions.js';
import { invalid, tooMany } from '../validation/field-errors.js';
import { validateWords } from '../validation/words.js';
import { validateOwnKey } from '../validation/domain-prefixed-key.js';
import { validateSameTarget, validateTarget } from './eviction-target.js';

type Request = DecodedObject<EvictionRequest>;

/** The words of an intent. */
export const INTENTS = ['Eviction', 'Withdrawn'];
const MAX_CONDITIONS = 100;

/** Source: pkg/registry/lifecycle/evictionrequest and pkg/apis/lifecycle/validation of Kubernetes 1.37. */
export const EVICTION_REQUEST_KIND = defineKind<Request>({
  type: EvictionRequest,
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.lifecycle.v1alpha1.EvictionRequest',
  hasStatus: true,
  needsVersionOnUpdate: true,
  keptWithStatus: ALL_BUT_STATUS,
  generationOf: ({ spec }) => spec,
  ...printed<Request>(
    NAME,
    shown('Target', ({ spec }) => shownTarget(spec?.target)),
    shown('Requester', ({ spec }) => spec?.requester ?? ''),
    shown('Intent', ({ spec }) => spec?.intent ?? ''),
    shown('State', ({ status }) => shownState(status?.conditions)),
    AGE,
  ),
  validate: ({ spec = {} }, errors) => {
    validateTarget(spec.target, errors);
    validateOwnKey(spec.requester ?? '', 'spec.requester', errors);
    validateIntent(spec, errors);
  },
  validateUpdate({ spec = {}, status = {} }, old, subresource, errors) {
    if (subresource === 'status') {
      validateEvictionConditions(status.conditions, errors);
      validateObserved(status.observedGeneration, old.status?.observedGeneration, errors);
      return;
    }
    validateSameTarget(spec.target, old.spec?.target, errors);
    if (spec.requester !== old.spec?.requester)
      errors.push(invalid('spec.requester', spec.requester ?? '', FIELD_IMMUTABLE));
    validateIntent(spec, errors);
  },
});

function validateIntent(spec: { readonly intent?: string }, errors: FieldError[]): void {
  validateWords({ ...spec }, [{ field: 'intent', words: INTENTS, isRequired: true }], 'spec', errors);
}

/** Conditions of a request, or of an eviction. */
export function validateEvictionConditions(
  conditions: Parameters<typeof validateMetaConditions>[0] = [],
  errors: FieldError[],
): void {
  if (conditions.length > MAX_CONDITIONS)
    errors.push(tooMany('status.conditions', conditions.length, MAX_CONDITIONS));
  else validateMetaConditions(conditions, 'status.conditions', errors);
}

/** The generation that a controller has observed never goes back. */
export function validateObserved(
  observed: Int64 | undefined,
  before: Int64 | undefined,
  errors: FieldError[],
): void {
  const field = 'status.observedGeneration';
  if (observed === undefined) {
    if (before !== undefined) errors.push(invalid(field, null, 'field cannot be cleared once set'));
  } else if (observed < 1) errors.push(invalid(field, observed, 'must be greater than or equal to 1'));
  else if (before !== undefined && observed < before)
    errors.push(invalid(field, observed, `must be greater than or equal to ${before}`));
}

/** The target in a table. */
export function shownTarget(target: { readonly pod?: { readonly name?: string } } | undefined): string {
  return target?.pod ? `pod/${target.pod.name ?? ''}` : '<none>';
}

/** The outcome in a table. */
export function shownState(
  conditions:
    readonly { readonly type?: string; readonly status?: string; readonly reason?: string }[] | undefined,
): string {
  if (findCondition(conditions, TARGET_EVICTED)?.status === 'True') return 'Evicted';
  const failed = findCondition(conditions, EVICTION_FAILED);
  return failed?.status === 'True' ? (failed.reason ?? 'Failed') : 'Pending';
}
