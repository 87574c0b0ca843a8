export type {
  FieldError,
  FieldErrorType,
  GracefulDeletion,
  KindDefinition,
  KindRegistry,
  Reservation,
  Reservations,
  ScaleMapping,
  ShownKind,
  Subresource,
  TableCell,
  TableColumn,
} from './kind-definition.js';
export { CLEANUP_FINALIZER } from './apiextensions/custom-resource-definition.kind.js';
export type { Definition } from './apiextensions/custom-resource-definition.kind.js';
export { customKindsOf, storedKindOf } from './custom/custom-kind.js';
export type { CustomKind } from './custom/custom-kind.js';
export { createKindRegistry } from './kind-registry.js';
export { humanDuration } from './common/human-duration.js';
export { invalid as invalidField } from './validation/field-errors.js';
export { RBAC_GROUP } from './rbac/rules.js';
export { semanticEqual } from './common/semantic-equal.js';
export { applyGeneratedName, generatedName } from './common/generated-name.js';
export { qosClassOf } from './core/pod/qos-class.js';
export { nanosOf } from './validation/quantities.js';
export type { Amount, Amounts } from './validation/quantities.js';
