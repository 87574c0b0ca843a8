import type {
  DeviceClaim,
  ResourceClaim,
  ResourceClaimTemplate,
} from '@rollkeeper/machinery/types/resource-v1';
import { FIELD_IMMUTABLE, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { ALL_BUT_STATUS } from '../kind-definition.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid } from '../validation/field-errors.js';
import { internalForm } from '../validation/internal-form.js';
import { validateAnnotations, validateLabels } from '../validation/labels.js';
import { dropReleasedDevices, validateClaimStatus } from './claim-status.validation.js';
import { validateDeviceClaim } from './device-claim.validation.js';
import { RESOURCE_GROUP } from './lists.js';

type Claim = DecodedObject<ResourceClaim>;
type Template = DecodedObject<ResourceClaimTemplate>;

/** Source: pkg/registry/resource/resourceclaim, and ValidateResourceClaim in pkg/apis/resource/validation. */
export const RESOURCE_CLAIM_KIND = defineKind<Claim>({
  type: {
    group: RESOURCE_GROUP,
    version: 'v1',
    resource: 'resourceclaims',
    kind: 'ResourceClaim',
    namespaced: true,
  },
  schema: 'io.k8s.api.resource.v1.ResourceClaim',
  ownershipFrom: 'creation',
  answersDeleted: true,
  keptWithStatus: ALL_BUT_STATUS,
  hasStatus: true,
  ...printed<Claim>(
    NAME,
    shown('State', (claim) => stateOf(claim)),
    AGE,
  ),
  applyDefaults: ({ spec }) => defaultDevices(spec?.devices),
  prepareForCreate(object) {
    object.status = {};
  },
  prepareForUpdate(object, old, subresource) {
    if (subresource === 'status') dropReleasedDevices(object, old);
  },
  validate: ({ spec }, errors) => validateDeviceClaim(spec?.devices ?? {}, 'spec.devices', errors),
  validateUpdate(object, old, subresource, errors) {
    if (subresource === 'status') validateClaimStatus(object, old, errors);
    else if (!sameMeaning(object.spec, old.spec))
      errors.push(invalid('spec', internalForm('resource.ResourceClaimSpec', object.spec), FIELD_IMMUTABLE));
  },
});

/** Source: printResourceClaim in pkg/printers/internalversion. */
function stateOf({ metadata, status }: Readonly<Claim>): string {
  const states = [
    ...(metadata.deletionTimestamp !== undefined ? ['deleted'] : []),
    ...(!status?.allocation && metadata.deletionTimestamp === undefined ? ['pending'] : []),
    ...(status?.allocation ? ['allocated'] : []),
    ...(status?.allocation && status.reservedFor?.length ? ['reserved'] : []),
  ];
  return states.join(',');
}

/** Source: ValidateResourceClaimTemplate. */
export const RESOURCE_CLAIM_TEMPLATE_KIND = defineKind<Template>({
  type: {
    group: RESOURCE_GROUP,
    version: 'v1',
    resource: 'resourceclaimtemplates',
    kind: 'ResourceClaimTemplate',
    namespaced: true,
  },
  schema: 'io.k8s.api.resource.v1.ResourceClaimTemplate',
  ownershipFrom: 'creation',
  answersDeleted: true,
  ...printed<Template>(NAME, AGE),
  applyDefaults: ({ spec }) => defaultDevices(spec?.spec?.devices),
  validate: validateTemplate,
  validateUpdate(object, old, _subresource, errors) {
    const { spec } = object;
    validateTemplate(object, errors);
    if (!sameMeaning(spec, old.spec))
      errors.push(invalid('spec', internalForm('resource.ResourceClaimTemplateSpec', spec), FIELD_IMMUTABLE));
  },
});

function validateTemplate({ spec = {} }: Readonly<Template>, errors: FieldError[]): void {
  validateLabels(spec.metadata?.labels, 'spec.metadata.labels', errors);
  validateAnnotations(spec.metadata?.annotations, 'spec.metadata.annotations', errors);
  for (const field of Object.keys(spec.metadata ?? {}))
    if (field !== 'labels' && field !== 'annotations')
      errors.push(forbidden(`spec.metadata.${field}`, 'cannot be set'));
  validateDeviceClaim(spec.spec?.devices ?? {}, 'spec.spec.devices', errors);
}

/** Source: SetDefaults_ExactDeviceRequest and SetDefaults_DeviceSubRequest. */
function defaultDevices(devices: Decoded<DeviceClaim> | undefined): void {
  for (const { exactly, firstAvailable = [] } of devices?.requests ?? []) {
    for (const request of exactly ? [exactly, ...firstAvailable] : firstAvailable) {
      request.allocationMode ||= 'ExactCount';
      if (request.allocationMode === 'ExactCount') request.count ||= 1;
      for (const toleration of request.tolerations ?? []) toleration.operator ||= 'Equal';
    }
  }
}
