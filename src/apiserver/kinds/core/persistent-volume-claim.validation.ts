import { FIELD_IMMUTABLE, checkQualifiedName, nanosOf, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimStatus,
} from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported } from '../validation/field-errors.js';
import { validateBasicAmount } from '../validation/quantities.js';
import { internalDiff } from '../validation/unified-diff.js';
import { validateSyntax } from '../validation/words.js';
import { validateClaimSpec } from '../volumes/claim-spec.js';

type Claim = Readonly<DecodedObject<PersistentVolumeClaim>>;
type Spec = Decoded<PersistentVolumeClaimSpec>;

const IMMUTABLE =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/**
 * A claim is bound once, and grows when it is bound. Source: ValidatePersistentVolumeClaimUpdate in
 * pkg/apis/core/validation/validation.go.
 */
export function validateClaimUpdate(claim: Claim, old: Claim, errors: FieldError[]): void {
  const spec = claim.spec ?? {};
  const before = old.spec ?? {};
  const allowsAnyGroup = hasGroup(before.dataSource) || hasGroup(before.dataSourceRef);
  validateClaimSpec(spec, 'spec', errors, { allowsAnyGroup });
  const fixed = changeable(spec, before, claim.status?.phase === 'Bound');
  const compared = before.volumeName ? before : { ...before, volumeName: spec.volumeName };
  if (!sameMeaning(fixed, compared))
    errors.push(
      forbidden('spec', `${IMMUTABLE}\n${internalDiff('core.PersistentVolumeClaimSpec', compared, fixed)}`),
    );
  const size = nanosOf(spec.resources?.requests?.storage);
  if (size < nanosOf(before.resources?.requests?.storage) && size <= nanosOf(old.status?.capacity?.storage))
    errors.push(forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'));
  if (spec.volumeMode !== before.volumeMode)
    errors.push(invalid('volumeMode', spec.volumeMode ?? null, FIELD_IMMUTABLE));
  if (old.status?.currentVolumeAttributesClassName !== undefined && !spec.volumeAttributesClassName)
    errors.push(
      forbidden(
        'spec.volumeAttributesClassName',
        `update to ${spec.volumeAttributesClassName === undefined ? 'nil' : 'empty string'} is forbidden when status.currentVolumeAttributesClassName is not nil`,
      ),
    );
}

function hasGroup(source: { readonly apiGroup?: string } | undefined): boolean {
  return source?.apiGroup !== undefined;
}

/** The spec without what may change. */
function changeable(spec: Spec, before: Spec, isBound: boolean): Spec {
  return {
    ...spec,
    // Claims from before there were default classes get theirs later.
    ...(before.storageClassName === undefined && { storageClassName: undefined }),
    ...(isBound && {
      volumeAttributesClassName: before.volumeAttributesClassName,
      ...(spec.resources?.requests && {
        resources: {
          ...spec.resources,
          requests: { ...spec.resources.requests, storage: before.resources?.requests?.storage ?? '0' },
        },
      }),
    }),
  };
}

const RESIZE_STATUSES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];

/** Source: ValidatePersistentVolumeClaimStatusUpdate. */
export function validateClaimStatus(
  status: Decoded<PersistentVolumeClaimStatus>,
  errors: FieldError[],
): void {
  const { allocatedResourceStatuses = {}, allocatedResources = {}, capacity = {} } = status;
  for (const [name, amount] of Object.entries(capacity))
    validateBasicAmount(amount, `status.capacity[${name}]`, errors);
  for (const [name, word] of Object.entries(allocatedResourceStatuses)) {
    const path = 'status.allocatedResourceStatuses';
    isResourceKey(name, path, errors);
    // It is the name that is shown.
    if (!RESIZE_STATUSES.includes(word)) errors.push(notSupported(path, name, RESIZE_STATUSES));
  }
  for (const [name, amount] of Object.entries(allocatedResources)) {
    const path = 'status.allocatedResources';
    if (isResourceKey(name, path, errors)) validateBasicAmount(amount, `${path}[${name}]`, errors);
  }
}

/** Storage is the only resource of Kubernetes' own that a claim has. */
function isResourceKey(name: string, path: string, errors: FieldError[]): boolean {
  const { length } = errors;
  validateSyntax(name, checkQualifiedName, path, errors);
  const isNative = !name.includes('/') || name.includes('kubernetes.io/');
  if (errors.length === length && isNative && name !== 'storage')
    errors.push(notSupported(path, name, ['storage']));
  return errors.length === length;
}
