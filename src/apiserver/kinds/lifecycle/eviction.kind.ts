import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { Eviction } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { ALL_BUT_STATUS } from '../kind-definition.js';
import { validateEvictionStatus } from './eviction-status.validation.js';
import { shownState, shownTarget } from './eviction-request.kind.js';
import { validateSameTarget, validateTarget } from './eviction-target.js';

type DecodedEviction = DecodedObject<Eviction>;

/** Source: pkg/registry/lifecycle/eviction and pkg/apis/lifecycle/validation of Kubernetes 1.37. */
export const EVICTION_KIND = defineKind<DecodedEviction>({
  type: Eviction,
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.lifecycle.v1alpha1.Eviction',
  hasStatus: true,
  needsVersionOnUpdate: true,
  keptWithStatus: ALL_BUT_STATUS,
  generationOf: ({ spec }) => spec,
  ...printed<DecodedEviction>(
    NAME,
    shown('Target', ({ spec }) => shownTarget(spec?.target)),
    shown('Responder', activeResponder),
    shown('State', ({ status }) => shownState(status?.conditions)),
    AGE,
  ),
  validate: ({ spec }, errors) => validateTarget(spec?.target, errors),
  validateUpdate({ spec, status = {} }, old, subresource, errors, _again, nowMs) {
    if (subresource === 'status') validateEvictionStatus(status, old.status ?? {}, errors, nowMs);
    else validateSameTarget(spec?.target, old.spec?.target, errors);
  },
});

function activeResponder({ status }: Readonly<DecodedEviction>): string {
  return status?.targetResponders?.find(({ state }) => state === 'Active')?.name ?? '<none>';
}
