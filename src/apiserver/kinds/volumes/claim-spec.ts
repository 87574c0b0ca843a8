import { checkDns1123Label, checkDns1123Subdomain } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type {
  PersistentVolumeClaimSpec,
  TypedLocalObjectReference,
  TypedObjectReference,
} from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import { validateLabelSelector } from '../validation/labels.js';
import { validatePositiveAmount } from '../validation/quantities.js';
import { validateSyntax } from '../validation/words.js';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const ALONE = 'ReadWriteOncePod';
export const VOLUME_MODES = ['Block', 'Filesystem'];

interface ClaimSpecOptions {
  /** Whether the group of a data source may be what it is: it has been there before. @default false */
  readonly allowsAnyGroup?: boolean;
}

/** Source: ValidatePersistentVolumeClaimSpec in pkg/apis/core/validation/validation.go. */
export function validateClaimSpec(
  spec: Decoded<PersistentVolumeClaimSpec>,
  path: string,
  errors: FieldError[],
  { allowsAnyGroup = false }: ClaimSpecOptions = {},
): void {
  const { accessModes = [], selector, resources, storageClassName, volumeMode } = spec;
  if (accessModes.length === 0)
    errors.push(required(`${path}.accessModes`, 'at least 1 access mode is required'));
  if (selector) validateLabelSelector(selector, `${path}.selector`, errors);
  validateAccessModes(accessModes, `${path}.accessModes`, errors);
  const storage = resources?.requests?.storage;
  if (storage === undefined) errors.push(required(`${path}.resources[storage]`));
  else validatePositiveAmount(storage, `${path}.resources[storage]`, errors);
  if (storageClassName)
    validateSyntax(storageClassName, checkDns1123Subdomain, `${path}.storageClassName`, errors);
  if (volumeMode !== undefined && !VOLUME_MODES.includes(volumeMode))
    errors.push(notSupported(`${path}.volumeMode`, volumeMode, VOLUME_MODES));
  if (spec.volumeAttributesClassName)
    validateSyntax(
      spec.volumeAttributesClassName,
      checkDns1123Subdomain,
      `${path}.volumeAttributesClassName`,
      errors,
    );
  validateDataSources(spec, path, errors, allowsAnyGroup);
}

/** Validates that a mode for one pod alone has no other beside it. A mode that is not known is not another one. */
export function validateAccessModes(modes: readonly string[], path: string, errors: FieldError[]): void {
  for (const mode of modes)
    if (!ACCESS_MODES.includes(mode)) errors.push(notSupported(path, mode, ACCESS_MODES));
  const isShared = modes.some((mode) => mode !== ALONE && ACCESS_MODES.includes(mode));
  if (isShared && modes.includes(ALONE))
    errors.push(forbidden(path, 'may not use ReadWriteOncePod with other access modes'));
}

function validateDataSources(
  { dataSource, dataSourceRef }: Decoded<PersistentVolumeClaimSpec>,
  path: string,
  errors: FieldError[],
  allowsAnyGroup: boolean,
): void {
  for (const [field, source] of Object.entries({ dataSource, dataSourceRef })) {
    if (!source) continue;
    const at = `${path}.${field}`;
    const group = source.apiGroup ?? '';
    if (!source.name) errors.push(required(`${at}.name`));
    if (!source.kind) errors.push(required(`${at}.kind`));
    if (group === '' && source.kind !== 'PersistentVolumeClaim')
      errors.push(
        invalid(
          at,
          source.kind ?? '',
          "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
        ),
      );
    if (group !== '' && !allowsAnyGroup)
      validateSyntax(group, checkDns1123Subdomain, `${at}.apiGroup`, errors);
  }
  if (dataSource && dataSourceRef && !dataSourceRef.namespace && !sameSource(dataSource, dataSourceRef))
    errors.push(invalid(path, {}, 'must match dataSourceRef'));
  if (dataSourceRef?.namespace)
    validateSyntax(dataSourceRef.namespace, checkDns1123Label, `${path}.dataSourceRef.namespace`, errors);
}

function sameSource(one: Decoded<TypedLocalObjectReference>, other: Decoded<TypedObjectReference>): boolean {
  return (
    one.name === other.name && one.kind === other.kind && (one.apiGroup ?? '') === (other.apiGroup ?? '')
  );
}

const SHORT: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

/** Access modes as `kubectl get` shows them: `RWO,ROX`. */
export function accessModesText(modes: readonly string[] = []): string {
  return SHORT.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}
