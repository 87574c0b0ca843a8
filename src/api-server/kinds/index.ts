export type {
  FieldError,
  FieldErrorType,
  GracefulDeletion,
  KindDefinition,
  KindRegistry,
  Reservation,
  Reservations,
  ScaleMapping,
  Subresource,
  TableCell,
  TableColumn,
} from './kind-definition.js';
export { createKindRegistry } from './kind-registry.js';
export { humanDuration } from './common/human-duration.js';
export { invalid as invalidField } from './validation/field-errors.js';
export { RBAC_GROUP } from './rbac/rules.js';
export { semanticEqual } from './common/semantic-equal.js';
