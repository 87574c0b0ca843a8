import { checkDns1123Subdomain } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { AzureDiskVolumeSource, HostPathVolumeSource } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { invalid, notSupported, required, tooLong } from '../validation/field-errors.js';
import { validateNoBacksteps } from '../validation/paths.js';
import { requireFields, validateByte } from './network-sources.js';

/** Sources of machines and of clouds that a pod's volume and a PersistentVolume share. */

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

export function validateHostPath(
  hostPath: Decoded<HostPathVolumeSource>,
  path: string,
  errors: FieldError[],
): void {
  if (!hostPath.path) errors.push(required(`${path}.path`));
  else validateNoBacksteps(hostPath.path, `${path}.path`, errors);
  if (hostPath.type !== undefined && !HOST_PATH_TYPES.includes(hostPath.type))
    errors.push(notSupported(`${path}.type`, hostPath.type, HOST_PATH_TYPES));
}

const CACHING_MODES = ['None', 'ReadOnly', 'ReadWrite'];
const DISK_KINDS = ['Dedicated', 'Managed', 'Shared'];

export function validateAzureDisk(
  azure: Decoded<AzureDiskVolumeSource>,
  path: string,
  errors: FieldError[],
): void {
  requireFields(azure, ['diskName', 'diskURI'], path, errors);
  const { cachingMode, kind, diskURI = '' } = azure;
  if (cachingMode !== undefined && !CACHING_MODES.includes(cachingMode))
    errors.push(notSupported(`${path}.cachingMode`, cachingMode, CACHING_MODES));
  if (kind !== undefined && !DISK_KINDS.includes(kind))
    errors.push(notSupported(`${path}.kind`, kind, DISK_KINDS));
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions/'))
    errors.push(notSupported(`${path}.diskURI`, diskURI, ['/subscriptions/{sub-id}/...']));
  if (kind !== undefined && kind !== 'Managed' && diskURI && !diskURI.startsWith('https://'))
    errors.push(
      notSupported(`${path}.diskURI`, diskURI, ['https://{account-name}.blob.core.windows.net/...']),
    );
}

/** A disk of a cloud, whole or one partition of it. */
export function validatePartitioned<K extends string>(
  idField: K,
): (
  source: { readonly [field in K]?: string } & { readonly partition?: number },
  path: string,
  errors: FieldError[],
) => void {
  return (source, path, errors) => {
    requireFields(source, [idField], path, errors);
    validateByte(source.partition, `${path}.partition`, errors);
  };
}

/** The name of a CSI driver: a subdomain of at most 63 characters, in any case. Source: ValidateCSIDriverName. */
export function validateCsiDriverName(name: string | undefined, field: string, errors: FieldError[]): void {
  if (!name) {
    errors.push(required(field));
    return;
  }
  if (name.length > 63) errors.push(tooLong(field, 63));
  for (const problem of checkDns1123Subdomain(name.toLowerCase())) errors.push(invalid(field, name, problem));
}
