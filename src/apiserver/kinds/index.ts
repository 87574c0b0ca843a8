export { isDefinedByUsers } from './kind-definition.js';
export type {
  FieldError,
  KindDefinition,
  KindRegistry,
  Reservation,
  ScaleMapping,
  ShownKind,
  Subresource,
  TableCell,
  WebhookConversion,
} from './kind-definition.js';
export { describedColumns } from './column-descriptions.js';
export { compileRequestExpression } from './admissionregistration/request-expression.js';
export { compileVariables } from './admissionregistration/request-variables.js';
export type { RequestExpression } from './admissionregistration/request-expression.js';
export { CLEANUP_FINALIZER } from './apiextensions/custom-resource-definition.kind.js';
export type { Definition } from './custom/custom-kind.js';
export {
  APPROVAL_ANNOTATION,
  approvalOfDefinition,
} from './apiextensions/custom-resource-definition.validation.js';
export type { Approval } from './apiextensions/custom-resource-definition.validation.js';
export { refusalOf, storedResourceOf } from './apiextensions/reserved-groups.js';
export { customKindsOf, customSchemaName, servedKindOf, storedKindOf } from './custom/custom-kind.js';
export { structuralType } from './custom/rules/rule-types.js';
export type { CustomKind } from './custom/custom-kind.js';
export { createKindRegistry } from './kind-registry.js';
export { kindsWith, schemasWith } from './previews.js';
export { NAME_COLUMN, column } from './common/columns.js';
export { SHOWN_SCALE } from './common/scale.js';
export { compareVersions } from './common/version-order.js';
export {
  forbidden as forbiddenField,
  invalid as invalidField,
  notSupported as notSupportedField,
  required as requiredField,
} from './validation/field-errors.js';
export {
  validateAnnotations,
  validateLabelOperands,
  validateLabels,
  validateOperands,
} from './validation/labels.js';
export { RBAC_GROUP } from './rbac/rules.js';
export { qosClassOf } from './core/pod/qos-class.js';
export { referencesOf } from './core/pod/pod-references.js';
export { SERVICE_NETWORKS } from './core/service/service.reservations.js';
