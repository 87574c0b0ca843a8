import type { DeviceClass } from '@rollkeeper/machinery/types/resource-v1';
import { checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { invalid } from '../validation/field-errors.js';
import { MAX_CONFIGS, validateConfiguration } from './device-claim.validation.js';
import { validateSelectors } from './device-selectors.js';
import { RESOURCE_GROUP, validateItems } from './lists.js';

type Class = DecodedObject<DeviceClass>;

/** Source: ValidateDeviceClass in pkg/apis/resource/validation/validation.go. */
export const DEVICE_CLASS_KIND = defineKind<Class>({
  type: {
    group: RESOURCE_GROUP,
    version: 'v1',
    resource: 'deviceclasses',
    kind: 'DeviceClass',
    namespaced: false,
  },
  schema: 'io.k8s.api.resource.v1.DeviceClass',
  ownershipFrom: 'creation',
  answersDeleted: true,
  generationOf: ({ spec }) => spec,
  ...printed<Class>(NAME, AGE),
  validate({ spec = {} }, errors) {
    validateSelectors(spec.selectors, 'spec.selectors', errors);
    validateItems(spec.config, MAX_CONFIGS, 'spec.config', errors, ({ opaque }, at) =>
      validateConfiguration(opaque, at, errors),
    );
    const name = spec.extendedResourceName;
    if (name !== undefined && !isExtendedResource(name))
      errors.push(invalid('spec.extendedResourceName', name, 'must be a valid extended resource name'));
  },
});

/** Source: IsExtendedResourceName in pkg/apis/core/v1/helper. */
function isExtendedResource(name: string): boolean {
  const isNative = !name.includes('/') || name.includes('kubernetes.io/');
  return !isNative && !name.startsWith('requests.') && checkQualifiedName(`requests.${name}`).length === 0;
}
