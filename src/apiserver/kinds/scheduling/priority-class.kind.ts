import { FIELD_IMMUTABLE } from '@rollkeeper/machinery/kubernetes';
import type { PriorityClass as IPriorityClass } from '@rollkeeper/machinery/types/scheduling-v1';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { forbidden, invalid, notSupported, required } from '../validation/field-errors.js';

type PriorityClass = DecodedObject<IPriorityClass>;

/** Greater ones are the system's own. */
const HIGHEST = 1_000_000_000;
const SYSTEM: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};
const POLICIES = ['PreemptLowerPriority', 'Never'];

/** Source: ValidatePriorityClass in pkg/apis/scheduling/validation/validation.go. */
export const PRIORITY_CLASS_KIND = defineKind<PriorityClass>({
  type: {
    group: 'scheduling.k8s.io',
    version: 'v1',
    resource: 'priorityclasses',
    kind: 'PriorityClass',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.scheduling.v1.PriorityClass',
  shortNames: ['pc'],
  generationOf: () => undefined,
  ...printed<PriorityClass>(
    NAME,
    shown('Value', ({ value }) => value ?? 0, 'integer'),
    shown('Global-Default', ({ globalDefault }) => globalDefault ?? false, 'boolean'),
    AGE,
    shown('PreemptionPolicy', ({ preemptionPolicy }) => preemptionPolicy ?? ''),
  ),
  applyDefaults(object) {
    object.preemptionPolicy ??= 'PreemptLowerPriority';
    object.value ??= 0;
  },
  validate({ metadata, value, preemptionPolicy: policy }, errors) {
    const { name = '' } = metadata;
    if (name.startsWith('system-')) {
      if (SYSTEM[name] !== value)
        errors.push(
          forbidden(
            'metadata.name',
            "priority class names with 'system-' prefix are reserved for system use only. error: only system priority classes are allowed",
          ),
        );
    } else if ((value ?? 0) > HIGHEST)
      errors.push(forbidden('value', `maximum allowed value of a user defined priority is ${HIGHEST}`));
    if (policy === '') errors.push(required('preemptionPolicy'));
    else if (policy !== undefined && !POLICIES.includes(policy))
      errors.push(notSupported('preemptionPolicy', policy, POLICIES));
  },
  validateUpdate(object, old, _subresource, errors) {
    if (object.value !== old.value) errors.push(forbidden('value', 'may not be changed in an update.'));
    if (object.preemptionPolicy !== old.preemptionPolicy)
      errors.push(invalid('preemptionPolicy', object.preemptionPolicy ?? null, FIELD_IMMUTABLE));
  },
});
