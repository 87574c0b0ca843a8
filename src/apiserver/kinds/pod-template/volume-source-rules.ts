import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import { nanosOf } from '@rollkeeper/machinery/kubernetes';
import type { Volume } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { forbidden, required } from '../validation/field-errors.js';
import { validateAnnotations, validateLabels } from '../validation/labels.js';
import { validateFileMode, validateLocalPath } from '../validation/paths.js';
import { validateClaimSpec } from '../volumes/claim-spec.js';
import {
  validateAzureDisk,
  validateCsiDriverName,
  validateHostPath,
  validatePartitioned,
} from '../volumes/machine-sources.js';
import {
  requireFields,
  validateCeph,
  validateFc,
  validateFlocker,
  validateIscsi,
  validateNfs,
  validateQuobyte,
  validateRbd,
} from '../volumes/network-sources.js';
import { validateProjected } from './validate-projected.js';
import { validateDownwardFile, validateItems } from './validate-volume-files.js';

type Sources = Omit<Decoded<Volume>, 'name'>;
type SourceRule<T> = (source: T, path: string, errors: FieldError[]) => void;

const requires =
  <T extends object>(...fields: (keyof T & string)[]): SourceRule<T> =>
  (source, path, errors) =>
    requireFields(source, fields, path, errors);

/**
 * The rules for each source of a pod's volume. Source: validateVolumeSource in pkg/apis/core/validation/validation.go.
 */
export const SOURCE_RULES: { readonly [K in keyof Sources]-?: SourceRule<NonNullable<Sources[K]>> } = {
  emptyDir({ sizeLimit }, path, errors) {
    if (nanosOf(sizeLimit) < 0n)
      errors.push(forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity'));
  },
  hostPath: validateHostPath,
  gitRepo(gitRepo, path, errors) {
    if (!gitRepo.repository) errors.push(required(`${path}.repository`));
    if (gitRepo.directory) validateLocalPath(gitRepo.directory, `${path}.directory`, errors);
  },
  gcePersistentDisk: validatePartitioned('pdName'),
  awsElasticBlockStore: validatePartitioned('volumeID'),
  secret({ secretName, defaultMode, items }, path, errors) {
    if (!secretName) errors.push(required(`${path}.secretName`));
    validateFileMode(defaultMode, `${path}.defaultMode`, errors);
    validateItems(items, `${path}.items`, errors);
  },
  nfs: validateNfs,
  iscsi: validateIscsi,
  glusterfs: requires('endpoints', 'path'),
  flocker: validateFlocker,
  persistentVolumeClaim: requires('claimName'),
  rbd: validateRbd,
  cinder: requires('volumeID'),
  cephfs: validateCeph,
  quobyte: validateQuobyte,
  downwardAPI({ defaultMode, items }, path, errors) {
    validateFileMode(defaultMode, `${path}.defaultMode`, errors);
    items?.forEach((item) => validateDownwardFile(item, path, errors));
  },
  fc: validateFc,
  flexVolume: requires('driver'),
  configMap({ name, defaultMode, items }, path, errors) {
    if (!name) errors.push(required(`${path}.name`));
    validateFileMode(defaultMode, `${path}.defaultMode`, errors);
    validateItems(items, `${path}.items`, errors);
  },
  azureFile: requires('secretName', 'shareName'),
  vsphereVolume: requires('volumePath'),
  photonPersistentDisk: requires('pdID'),
  portworxVolume: requires('volumeID'),
  azureDisk: validateAzureDisk,
  storageos: requires('volumeName'),
  projected: validateProjected,
  scaleIO: requires('gateway', 'system', 'volumeName'),
  csi({ driver, nodePublishSecretRef }, path, errors) {
    validateCsiDriverName(driver, `${path}.driver`, errors);
    if (nodePublishSecretRef && !nodePublishSecretRef.name)
      errors.push(required(`${path}.nodePublishSecretRef.name`));
  },
  ephemeral({ volumeClaimTemplate: template }, path, errors) {
    const at = `${path}.volumeClaimTemplate`;
    if (!template) {
      errors.push(required(at));
      return;
    }
    validateLabels(template.metadata?.labels, `${at}.metadata.labels`, errors);
    validateAnnotations(template.metadata?.annotations, `${at}.metadata.annotations`, errors);
    validateClaimSpec(template.spec ?? {}, `${at}.spec`, errors);
  },
  image({ reference }, path, errors) {
    if (!reference) errors.push(required(`${path}.reference`));
  },
};
