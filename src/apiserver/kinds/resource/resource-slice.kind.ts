import type { ResourceSlice } from '@rollkeeper/machinery/types/resource-v1';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { FIELD_IMMUTABLE, goQuote } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from '../validation/field-errors.js';
import { validateCsiDriverName } from '../volumes/machine-sources.js';
import { validatePoolName } from './claim-status.validation.js';
import { validateDevices, validateNodes } from './devices.validation.js';
import { RESOURCE_GROUP } from './lists.js';

type Slice = DecodedObject<ResourceSlice>;

/** Source: ValidateResourceSlice in pkg/apis/resource/validation/validation.go. */
export const RESOURCE_SLICE_KIND = defineKind<Slice>({
  type: {
    group: RESOURCE_GROUP,
    version: 'v1',
    resource: 'resourceslices',
    kind: 'ResourceSlice',
    namespaced: false,
  },
  schema: 'io.k8s.api.resource.v1.ResourceSlice',
  ownershipFrom: 'creation',
  answersDeleted: true,
  generationOf: ({ spec }) => spec,
  ...printed<Slice>(
    NAME,
    shown('Node', ({ spec }) => spec?.nodeName ?? '<unset>'),
    shown('Driver', ({ spec }) => spec?.driver ?? ''),
    shown('Pool', ({ spec }) => spec?.pool?.name ?? ''),
    AGE,
  ),
  applyDefaults: ({ spec }) => dropLists(spec),
  prepareForCreate: stampTaints,
  prepareForUpdate: (object, _old, _subresource, nowMs = 0) => stampTaints(object, nowMs),
  validate: (object, errors) => validate(object, errors),
  validateUpdate(object, old, _subresource, errors) {
    validate(object, errors, old);
  },
  warnings: ({ spec }) => {
    const { driver = '' } = spec ?? {};
    return driver === driver.toLowerCase()
      ? []
      : [`spec.driver: driver names should be lowercase; ${goQuote(driver)} contains uppercase characters`];
  },
  unknownField: (field) => `field label not supported for ${RESOURCE_GROUP}/v1, Kind=ResourceSlice: ${field}`,
  selectableFields: ({ spec }) => ({
    'spec.nodeName': spec?.nodeName ?? '',
    'spec.driver': spec?.driver ?? '',
  }),
});

/** DRAListTypeAttributes, which is off by default in 1.36. */
function dropLists(spec: Slice['spec']): void {
  for (const { attributes = {} } of spec?.devices ?? [])
    for (const attribute of Object.values(attributes))
      for (const list of ['bools', 'ints', 'strings', 'versions'] as const) delete attribute[list];
}

/** Tolerations for some seconds count from then. Source: SetDefaults_DeviceTaint in pkg/apis/resource/v1/defaults.go. */
function stampTaints({ spec }: Slice, nowMs: number): void {
  for (const { taints } of spec?.devices ?? [])
    for (const taint of taints ?? []) taint.timeAdded ??= toRfc3339(nowMs);
}

const ONE_OF = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';

function validateFixed(
  spec: NonNullable<Slice['spec']>,
  before: NonNullable<Slice['spec']>,
  errors: FieldError[],
): void {
  if (spec.pool?.name !== before.pool?.name)
    errors.push(invalid('spec.pool.name', spec.pool?.name ?? '', FIELD_IMMUTABLE));
  if (spec.driver !== before.driver) errors.push(invalid('spec.driver', spec.driver ?? '', FIELD_IMMUTABLE));
  if (spec.nodeName !== before.nodeName)
    errors.push(invalid('spec.nodeName', spec.nodeName, FIELD_IMMUTABLE));
}

function validate({ spec = {} }: Readonly<Slice>, errors: FieldError[], old?: Readonly<Slice>): void {
  validateCsiDriverName(spec.driver, 'spec.driver', errors);
  const { pool = {} } = spec;
  validatePoolName(pool.name, 'spec.pool.name', errors);
  const { resourceSliceCount: count = 0, generation = 0 } = pool;
  if (count <= 0) errors.push(invalid('spec.pool.resourceSliceCount', count, 'must be greater than zero'));
  if (generation < 0)
    errors.push(invalid('spec.pool.generation', generation, 'must be greater than or equal to zero'));
  if (old) validateFixed(spec, old.spec ?? {}, errors);
  validateSelection(spec, errors);
  validateDevices(spec, errors);
}

function validateSelection(spec: NonNullable<Slice['spec']>, errors: FieldError[]): void {
  const { nodeSelector, perDeviceNodeSelection } = spec;
  const found = validateNodes(spec, 'spec', errors, 'must be either unset or set to a non-empty string');
  const terms = nodeSelector?.nodeSelectorTerms ?? [];
  if (nodeSelector && terms.length !== 1)
    errors.push(
      invalid('spec.nodeSelector.nodeSelectorTerms', terms, 'must have exactly one node selector term'),
    );
  if (perDeviceNodeSelection === false)
    errors.push(
      invalid('spec.perDeviceNodeSelection', perDeviceNodeSelection, 'must be either unset or set to true'),
    );
  if (perDeviceNodeSelection) found.push('`perDeviceNodeSelection`');
  if (found.length === 0) errors.push(required('spec', ONE_OF));
  if (found.length > 1)
    errors.push(invalid('spec', `{${found.join(', ')}}`, `${ONE_OF}, but multiple fields are set`));
}
