import { outOfRange } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type {
  CephFSVolumeSource,
  FCVolumeSource,
  FlockerVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  QuobyteVolumeSource,
} from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from '../validation/field-errors.js';

/** Sources that a pod's volume and a PersistentVolume share. Source: pkg/apis/core/validation/validation.go. */

/** Adds a complaint for each of the fields that is not there. */
export function requireFields<T extends object>(
  source: T,
  fields: readonly (keyof T & string)[],
  path: string,
  errors: FieldError[],
): void {
  for (const field of fields) if (!source[field]) errors.push(required(`${path}.${field}`));
}

export function validateNfs(nfs: Decoded<NFSVolumeSource>, path: string, errors: FieldError[]): void {
  requireFields(nfs, ['server', 'path'], path, errors);
  if (!nfs.path?.startsWith('/'))
    errors.push(invalid(`${path}.path`, nfs.path ?? '', 'must be an absolute path'));
}

type Iscsi = Pick<Decoded<ISCSIVolumeSource>, 'targetPortal' | 'iqn' | 'lun' | 'initiatorName'> &
  Partial<Pick<Decoded<ISCSIVolumeSource>, 'chapAuthDiscovery' | 'chapAuthSession'>> & {
    secretRef?: unknown;
  };

export function validateIscsi(iscsi: Iscsi, path: string, errors: FieldError[]): void {
  requireFields(iscsi, ['targetPortal', 'iqn'], path, errors);
  if (iscsi.iqn) validateIqn(iscsi.iqn, `${path}.iqn`, errors);
  validateByte(iscsi.lun, `${path}.lun`, errors);
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && !iscsi.secretRef)
    errors.push(required(`${path}.secretRef`));
  if (iscsi.initiatorName !== undefined) validateIqn(iscsi.initiatorName, `${path}.initiatorname`, errors);
}

function validateIqn(name: string, field: string, errors: FieldError[]): void {
  const valid = /^(iqn\.\d{4}-\d{2}\.([\w-]+\.)*[\w-]+(:.*)?|eui\.[0-9a-fA-F]{16}|naa\.[0-9a-fA-F]{16,32})$/;
  if (!/^(?:iqn|eui|naa)/.test(name))
    errors.push(invalid(field, name, 'must be valid format starting with iqn, eui, or naa'));
  else if (!valid.test(name)) errors.push(invalid(field, name, 'must be valid format'));
}

/** A partition or a unit: 0 to 255. */
export function validateByte(value: number | undefined, field: string, errors: FieldError[]): void {
  if (value !== undefined && (value < 0 || value > 255))
    errors.push(invalid(field, value, outOfRange(0, 255)));
}

export function validateCeph(
  ceph: Pick<Decoded<CephFSVolumeSource>, 'monitors'>,
  path: string,
  errors: FieldError[],
): void {
  if (!ceph.monitors?.length) errors.push(required(`${path}.monitors`));
}

export function validateRbd(
  rbd: { readonly monitors?: readonly string[]; readonly image?: string },
  path: string,
  errors: FieldError[],
): void {
  if (!rbd.monitors?.length) errors.push(required(`${path}.monitors`));
  if (!rbd.image) errors.push(required(`${path}.image`));
}

export function validateFc(fc: Decoded<FCVolumeSource>, path: string, errors: FieldError[]): void {
  if (!fc.targetWWNs?.length && !fc.wwids?.length) {
    errors.push(required(`${path}.targetWWNs`, 'must specify either targetWWNs or wwids, but not both'));
  } else if (fc.targetWWNs?.length && fc.wwids?.length) {
    errors.push(
      invalid(
        `${path}.targetWWNs`,
        fc.targetWWNs,
        'targetWWNs and wwids can not be specified simultaneously',
      ),
    );
  }
  if (!fc.targetWWNs?.length) return;
  if (fc.lun === undefined)
    errors.push(required(`${path}.lun`, 'lun is required if targetWWNs is specified'));
  else validateByte(fc.lun, `${path}.lun`, errors);
}

export function validateFlocker(
  flocker: Decoded<FlockerVolumeSource>,
  path: string,
  errors: FieldError[],
): void {
  const { datasetName, datasetUUID } = flocker;
  if (!datasetName && !datasetUUID)
    errors.push(required(path, 'one of datasetName and datasetUUID is required'));
  if (datasetName && datasetUUID)
    errors.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'));
  if (datasetName?.includes('/'))
    errors.push(invalid(`${path}.datasetName`, datasetName, "must not contain '/'"));
}

export function validateQuobyte(
  quobyte: Decoded<QuobyteVolumeSource>,
  path: string,
  errors: FieldError[],
): void {
  const { registry, tenant, volume } = quobyte;
  if (!registry) {
    errors.push(
      required(`${path}.registry`, 'must be a host:port pair or multiple pairs separated by commas'),
    );
  } else if ((tenant?.length ?? 0) > 64) {
    errors.push(required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters'));
  } else if (registry.split(',').some((host) => !/^[^:]+:\d+$|^\[.+\]:\d+$/.test(host)))
    errors.push(
      invalid(`${path}.registry`, registry, 'must be a host:port pair or multiple pairs separated by commas'),
    );
  if (!volume) errors.push(required(`${path}.volume`));
}
