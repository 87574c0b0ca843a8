import type { VolumeAttachment } from '@rollkeeper/machinery/types/storage-v1';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { checkDns1123Subdomain, FIELD_IMMUTABLE, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { ALL_BUT_STATUS } from '../kind-definition.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, required } from '../validation/field-errors.js';
import { internalForm } from '../validation/internal-form.js';
import { validateSyntax } from '../validation/words.js';
import { validateCsiDriverName } from '../volumes/machine-sources.js';
import { STORAGE_GROUP } from './classes.kinds.js';

type Attachment = DecodedObject<VolumeAttachment>;

/** Source: ValidateVolumeAttachment in pkg/apis/storage/validation/validation.go. */
export const VOLUME_ATTACHMENT_KIND = defineKind<Attachment>({
  type: {
    group: STORAGE_GROUP,
    version: 'v1',
    resource: 'volumeattachments',
    kind: 'VolumeAttachment',
    namespaced: false,
  },
  schema: 'io.k8s.api.storage.v1.VolumeAttachment',
  ownershipFrom: 'creation',
  answersDeleted: true,
  keptWithStatus: ALL_BUT_STATUS,
  hasStatus: true,
  needsVersionOnUpdate: true,
  ...printed<Attachment>(
    NAME,
    shown('Attacher', ({ spec }) => spec?.attacher ?? '', 'string', 'name'),
    shown('PV', ({ spec }) => spec?.source?.persistentVolumeName ?? ''),
    shown('Node', ({ spec }) => spec?.nodeName ?? ''),
    shown('Attached', ({ status }) => status?.attached ?? false, 'boolean'),
    AGE,
  ),
  prepareForCreate(object) {
    object.status = { attached: false };
  },
  validate,
  validateUpdate(object, old, _subresource, errors) {
    validate(object, errors);
    if (!sameMeaning(object.spec, old.spec))
      errors.push(
        invalid('spec', internalForm('storage.VolumeAttachmentSpec', object.spec), FIELD_IMMUTABLE),
      );
  },
});

function validate({ spec }: Readonly<Attachment>, errors: FieldError[]): void {
  const { attacher, source = {}, nodeName = '' } = spec ?? {};
  validateCsiDriverName(attacher, 'spec.attacher', errors);
  const volume = source.persistentVolumeName;
  if (!source.inlineVolumeSpec && volume === undefined)
    errors.push(
      required('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'),
    );
  if (source.inlineVolumeSpec && volume !== undefined)
    errors.push(
      forbidden('spec.source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'),
    );
  if (volume === '')
    errors.push(required('spec.source.persistentVolumeName', 'must specify non empty persistentVolumeName'));
  validateSyntax(nodeName, checkDns1123Subdomain, 'spec.nodeName', errors);
  if (volume !== undefined)
    validateSyntax(volume, checkDns1123Subdomain, 'spec.source.persistentVolumeName', errors);
}
