import { NAMESPACES } from '../../../kubernetes/index.js';
import type { Namespace } from '../../../kubernetes/index.js';
import { AGE_COLUMN, NAME_COLUMN, column } from '../common/columns.js';
import { ageSince } from '../common/human-duration.js';
import { carryOver, defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { invalid } from '../validation/field-errors.js';
import { checkDns1123Label } from '../validation/syntax.js';

const NAME_LABEL = 'kubernetes.io/metadata.name';
/** Keeps a namespace that is being deleted until the namespace controller has emptied it. */
const FINALIZER = 'kubernetes';

/** Source: pkg/registry/core/namespace/strategy.go and SetDefaults_Namespace. */
export const NAMESPACE_KIND = defineKind({
  type: NAMESPACES,
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.core.v1.Namespace',
  shortNames: ['ns'],
  subresources: ['status', 'finalize'],
  checkName: checkDns1123Label,
  columns: [NAME_COLUMN, column('Status', 'Active, or Terminating once deleted.'), AGE_COLUMN],
  toRow: (object, nowMs) => [
    object.metadata.name,
    (object as unknown as Namespace).status?.phase ?? '',
    ageSince(object.metadata.creationTimestamp, nowMs),
  ],
  applyDefaults({ metadata }) {
    if (!metadata.name) return;
    (metadata.labels ??= {})[NAME_LABEL] = metadata.name;
  },
  prepareForCreate(object) {
    const namespace = object as unknown as Namespace;
    namespace.status = { phase: 'Active' };
    const finalizers = namespace.spec?.finalizers ?? [];
    namespace.spec = {
      ...namespace.spec,
      finalizers: finalizers.includes(FINALIZER) ? finalizers : [...finalizers, FINALIZER],
    };
  },
  prepareForUpdate(object, old, subresource) {
    if (subresource !== 'finalize') carryOver(object, old, 'spec');
    if (subresource !== 'status') carryOver(object, old, 'status');
  },
  validateUpdate(object, _old, subresource, errors) {
    if (subresource === 'status') validatePhase(object, errors);
  },
  selectableFields: (object) => ({ 'status.phase': (object as unknown as Namespace).status?.phase ?? '' }),
});

function validatePhase({ metadata, status }: Namespace, errors: FieldError[]): void {
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
