import { FIELD_IMMUTABLE, canonicalJson, checkDns1123Label } from '@rollkeeper/machinery/kubernetes';
import type { RuntimeClass as IRuntimeClass, Scheduling } from '@rollkeeper/machinery/types/node-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { validateResources } from '../pod-template/validate-resources.js';
import { validateTolerations } from '../pod-template/validate-tolerations.js';
import { duplicate, invalid, required } from '../validation/field-errors.js';
import { internalForm } from '../validation/internal-form.js';
import { validateLabels } from '../validation/labels.js';
import { validateSyntax } from '../validation/words.js';
import { repeatedPlaces } from '../validation/repeated-places.js';

type RuntimeClass = DecodedObject<IRuntimeClass>;

/** Source: ValidateRuntimeClass in pkg/apis/node/validation/validation.go. */
export const RUNTIME_CLASS_KIND = defineKind<RuntimeClass>({
  type: {
    group: 'node.k8s.io',
    version: 'v1',
    resource: 'runtimeclasses',
    kind: 'RuntimeClass',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  finalizerNames: 'any',
  createsOnUpdate: true,
  schema: 'io.k8s.api.node.v1.RuntimeClass',
  needsVersionOnUpdate: true,
  ...printed<RuntimeClass>(
    NAME,
    shown('Handler', ({ handler }) => handler ?? ''),
    AGE,
  ),
  validate,
  validateUpdate(object, old, _subresource, errors) {
    validate(object, errors);
    if (object.handler !== old.handler)
      errors.push(invalid('handler', object.handler ?? '', FIELD_IMMUTABLE));
  },
});

function validate({ handler, overhead, scheduling }: Readonly<RuntimeClass>, errors: FieldError[]): void {
  if (!handler) errors.push(required('handler'));
  else validateSyntax(handler, checkDns1123Label, 'handler', errors);
  if (overhead?.podFixed) validateResources({ limits: overhead.podFixed }, 'overhead', errors);
  validateLabels(scheduling?.nodeSelector, 'scheduling.nodeSelector', errors);
  validateTolerations(scheduling?.tolerations, 'scheduling.tolerations', errors);
  const repeated = repeatedPlaces(scheduling?.tolerations?.map(meaningOf) ?? []);
  scheduling?.tolerations?.forEach((toleration, index) => {
    if (repeated.has(index))
      errors.push(duplicate(`scheduling.tolerations[${index}]`, internalForm('core.Toleration', toleration)));
  });
}

type Toleration = NonNullable<Decoded<Scheduling>['tolerations']>[number];

/** The same for two that mean the same: an empty text is none. */
function meaningOf(toleration: Toleration): string {
  return canonicalJson(Object.fromEntries(Object.entries(toleration).filter(([, value]) => value !== '')));
}
