import type {
  CSIDriver,
  CSINode,
  CSINodeDriver,
  CSIStorageCapacity,
} from '@rollkeeper/machinery/types/storage-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import {
  checkDns1123Subdomain,
  checkQualifiedName,
  FIELD_IMMUTABLE,
  sameMeaning,
} from '@rollkeeper/machinery/kubernetes';
import { AGE, CREATED_AT, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { duplicate, invalid, notSupported, required } from '../validation/field-errors.js';
import { shownSelector, validateLabelSelector } from '../validation/labels.js';
import { validateNonNegativeAmount } from '../validation/quantities.js';
import { validateSyntax } from '../validation/words.js';
import { validateCsiDriverName } from '../volumes/machine-sources.js';
import { STORAGE_GROUP } from './classes.kinds.js';
import { repeatedPlaces } from '../validation/repeated-places.js';

type Driver = DecodedObject<CSIDriver>;
type NodeInfo = DecodedObject<CSINode>;
type Capacity = DecodedObject<CSIStorageCapacity>;

const GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLES = ['Persistent', 'Ephemeral'];
const MAX_NODE_ID = 256;
const TOKENS_IN_ATTRIBUTES =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

/** Source: ValidateCSIDriver in pkg/apis/storage/validation/validation.go, SetDefaults_CSIDriver. */
export const CSI_DRIVER_KIND = defineKind<Driver>({
  type: {
    group: STORAGE_GROUP,
    version: 'v1',
    resource: 'csidrivers',
    kind: 'CSIDriver',
    namespaced: false,
  },
  schema: 'io.k8s.api.storage.v1.CSIDriver',
  generationOf: ({ spec }) => spec,
  firstGeneration: 0,
  ownershipFrom: 'creation',
  answersDeleted: true,
  needsVersionOnUpdate: true,
  ...printed<Driver>(
    NAME,
    shown('AttachRequired', ({ spec }) => spec?.attachRequired ?? true, 'boolean'),
    shown('PodInfoOnMount', ({ spec }) => spec?.podInfoOnMount ?? false, 'boolean'),
    shown('StorageCapacity', ({ spec }) => spec?.storageCapacity ?? false, 'boolean'),
    shown(
      'TokenRequests',
      ({ spec }) => (spec?.tokenRequests ?? []).map(({ audience }) => audience).join(',') || '<unset>',
    ),
    shown('RequiresRepublish', ({ spec }) => spec?.requiresRepublish ?? false, 'boolean'),
    shown('Modes', ({ spec }) => (spec?.volumeLifecycleModes ?? []).join(',')),
    AGE,
  ),
  applyDefaults(object) {
    const spec = (object.spec ??= {});
    spec.attachRequired ??= true;
    spec.podInfoOnMount ??= false;
    spec.storageCapacity ??= false;
    spec.requiresRepublish ??= false;
    spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
    spec.seLinuxMount ??= false;
    // Its feature is off by default in 1.36.
    delete spec.preventPodSchedulingIfMissing;
    if (!spec.volumeLifecycleModes?.length) spec.volumeLifecycleModes = ['Persistent'];
  },
  warnings: ({ spec }, old) =>
    !old && spec?.tokenRequests?.length && spec.serviceAccountTokenInSecrets === undefined
      ? [TOKENS_IN_ATTRIBUTES]
      : [],
  validate(object, errors) {
    validateDriverSpec(object, errors);
  },
  validateUpdate(object, old, _subresource, errors) {
    validateDriverSpec(object, errors);
    for (const field of ['attachRequired', 'volumeLifecycleModes'] as const)
      if (!sameMeaning(object.spec?.[field], old.spec?.[field]))
        errors.push(invalid(`spec.${field}`, object.spec?.[field] ?? null, FIELD_IMMUTABLE));
  },
});

const MIN_PERIOD_SECONDS = 10;

function validateDriverSpec({ spec = {} }: Readonly<Driver>, errors: FieldError[]): void {
  const { fsGroupPolicy: policy, nodeAllocatableUpdatePeriodSeconds: periodSeconds, tokenRequests } = spec;
  if (policy === undefined) errors.push(required('spec.fsGroupPolicy'));
  else if (!GROUP_POLICIES.includes(policy))
    errors.push(notSupported('spec.fsGroupPolicy', policy, GROUP_POLICIES));
  const audiences = new Set<string>();
  tokenRequests?.forEach(({ audience = '', expirationSeconds }, index) => {
    const path = `spec.tokenRequests[${index}]`;
    if (audiences.has(audience)) errors.push(duplicate(`${path}.audience`, audience));
    audiences.add(audience);
    if (expirationSeconds !== undefined && expirationSeconds < 600)
      errors.push(
        invalid(
          `${path}.expirationSeconds`,
          expirationSeconds,
          'may not specify a duration less than 10 minutes',
        ),
      );
  });
  spec.volumeLifecycleModes?.forEach((mode) => {
    if (!LIFECYCLES.includes(mode)) errors.push(notSupported('spec.volumeLifecycleModes', mode, LIFECYCLES));
  });
  if (periodSeconds !== undefined && periodSeconds < MIN_PERIOD_SECONDS)
    errors.push(
      invalid(
        'spec.nodeAllocatableUpdatePeriodSeconds',
        periodSeconds,
        `must be greater than or equal to ${MIN_PERIOD_SECONDS} seconds`,
      ),
    );
  if (spec.serviceAccountTokenInSecrets !== undefined && !tokenRequests?.length)
    errors.push(
      invalid(
        'spec.serviceAccountTokenInSecrets',
        spec.serviceAccountTokenInSecrets,
        'serviceAccountTokenInSecrets is set but no tokenRequests are specified',
      ),
    );
}

/** Source: ValidateCSINode. */
export const CSI_NODE_KIND = defineKind<NodeInfo>({
  type: { group: STORAGE_GROUP, version: 'v1', resource: 'csinodes', kind: 'CSINode', namespaced: false },
  schema: 'io.k8s.api.storage.v1.CSINode',
  ownershipFrom: 'creation',
  answersDeleted: true,
  needsVersionOnUpdate: true,
  ...printed<NodeInfo>(
    NAME,
    shown('Drivers', ({ spec }) => spec?.drivers?.length ?? 0, 'integer'),
    AGE,
  ),
  validate: validateNodeInfo,
  validateUpdate(object, old, _subresource, errors) {
    validateNodeInfo(object, errors);
    const known = Map.groupBy(old.spec?.drivers ?? [], ({ name }) => name);
    for (const driver of object.spec?.drivers ?? []) {
      const before = known.get(driver.name)?.[0];
      if (before && !sameMeaning({ ...driver, allocatable: 0 }, { ...before, allocatable: 0 }))
        errors.push(invalid('spec.drivers', shownDriver(driver), FIELD_IMMUTABLE));
    }
  },
});

/** As Kubernetes has it inside. */
function shownDriver({ allocatable, name, nodeID, topologyKeys }: Decoded<CSINodeDriver>): object {
  return {
    Name: name,
    NodeID: nodeID,
    TopologyKeys: topologyKeys ?? null,
    Allocatable: allocatable ? { Count: allocatable.count ?? null } : null,
  };
}

function validateNodeInfo({ spec }: Readonly<NodeInfo>, errors: FieldError[]): void {
  const names = new Set<string>();
  spec?.drivers?.forEach(({ name = '', nodeID, allocatable, topologyKeys }, index) => {
    const path = `spec.drivers[${index}]`;
    validateCsiDriverName(name, `${path}.name`, errors);
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
    if (!nodeID) errors.push(required(`${path}.nodeID`));
    else if (nodeID.length > MAX_NODE_ID)
      errors.push(invalid(`${path}.nodeID`, nodeID, `must be ${MAX_NODE_ID} characters or less`));
    if ((allocatable?.count ?? 0) < 0)
      errors.push(
        invalid(`${path}.allocatable.count`, allocatable?.count, 'must be greater than or equal to 0'),
      );
    const repeated = repeatedPlaces(topologyKeys ?? []);
    topologyKeys?.forEach((key, at) => {
      if (key === '') errors.push(required(path));
      if (repeated.has(at)) errors.push(duplicate(path, key));
      validateSyntax(key, checkQualifiedName, path, errors);
    });
  });
}

/** Source: ValidateCSIStorageCapacity. */
export const CSI_STORAGE_CAPACITY_KIND = defineKind<Capacity>({
  type: {
    group: STORAGE_GROUP,
    version: 'v1',
    resource: 'csistoragecapacities',
    kind: 'CSIStorageCapacity',
    namespaced: true,
  },
  schema: 'io.k8s.api.storage.v1.CSIStorageCapacity',
  needsVersionOnUpdate: true,
  ...printed<Capacity>(NAME, CREATED_AT),
  validate: validateCapacity,
  validateUpdate(object, old, _subresource, errors) {
    validateCapacity(object, errors);
    for (const field of ['nodeTopology', 'storageClassName'] as const)
      if (!sameMeaning(object[field], old[field]))
        errors.push(
          invalid(
            field,
            field === 'nodeTopology' ? shownSelector(object.nodeTopology) : (object[field] ?? ''),
            FIELD_IMMUTABLE,
          ),
        );
  },
});

function validateCapacity(object: Readonly<Capacity>, errors: FieldError[]): void {
  const { storageClassName = '', nodeTopology, capacity } = object;
  if (nodeTopology) validateLabelSelector(nodeTopology, 'nodeTopology', errors);
  validateSyntax(storageClassName, checkDns1123Subdomain, 'storageClassName', errors);
  if (capacity !== undefined) validateNonNegativeAmount(capacity, 'capacity', errors);
}
