import { Namespace, checkDns1123Label } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { carryOver, defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { invalid } from '../validation/field-errors.js';
import { validateFinalizer } from '../validation/object-meta.js';

const NAME_LABEL = 'kubernetes.io/metadata.name';
/** Keeps a namespace that is being deleted until the namespace controller has emptied it. */
const FINALIZER = 'kubernetes';

/** Source: pkg/registry/core/namespace/strategy.go and SetDefaults_Namespace. */
export const NAMESPACE_KIND = defineKind<DecodedObject<Namespace>>({
  type: Namespace,
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.core.v1.Namespace',
  shortNames: ['ns'],
  subresources: ['finalize', 'status'],
  checkName: checkDns1123Label,
  ...printed<DecodedObject<Namespace>>(
    NAME,
    shown('Status', ({ status }) => status?.phase ?? ''),
    AGE,
  ),
  applyDefaults(object) {
    const { metadata } = object;
    (object.status ??= {}).phase ||= 'Active';
    if (metadata.name) (metadata.labels ??= {})[NAME_LABEL] = metadata.name;
  },
  prepareForCreate(object) {
    object.status = { phase: 'Active' };
    const finalizers = object.spec?.finalizers ?? [];
    object.spec = {
      ...object.spec,
      finalizers: finalizers.includes(FINALIZER) ? finalizers : [...finalizers, FINALIZER],
    };
  },
  prepareForUpdate(object, old, subresource) {
    if (subresource !== 'finalize') carryOver(object, old, 'spec');
    if (subresource !== 'status') carryOver(object, old, 'status');
  },
  validate: validateNamespaceFinalizers,
  validateUpdate(object, _old, subresource, errors) {
    if (subresource === 'finalize')
      object.spec?.finalizers?.forEach((finalizer, index) =>
        validateFinalizer(finalizer, `spec.finalizers[${index}]`, errors),
      );
    else validateNamespaceFinalizers(object, errors);
    if (subresource === 'status') validatePhase(object, errors);
  },
  selectableFields: (object) => ({ 'status.phase': object.status?.phase ?? '' }),
});

/** The finalizers that keep a namespace must have valid names. Source: validateFinalizerName. */
function validateNamespaceFinalizers(
  { spec }: Readonly<DecodedObject<Namespace>>,
  errors: FieldError[],
): void {
  for (const finalizer of spec?.finalizers ?? []) validateFinalizer(finalizer, 'spec.finalizers', errors);
}

function validatePhase({ metadata, status }: DecodedObject<Namespace>, errors: FieldError[]): void {
  const phase = status?.phase ?? '';
  if (!metadata.deletionTimestamp && phase !== 'Active') {
    errors.push(invalid('status.Phase', phase, "may only be 'Active' if `deletionTimestamp` is empty"));
  }
  if (metadata.deletionTimestamp && phase !== 'Terminating') {
    errors.push(
      invalid('status.Phase', phase, "may only be 'Terminating' if `deletionTimestamp` is not empty"),
    );
  }
}
