import type { ControllerRevision as IControllerRevision } from '@rollkeeper/machinery/types/apps-v1';
import {
  controllerOf,
  FIELD_IMMUTABLE,
  isJsonObject,
  NON_NEGATIVE,
  sameMeaning,
} from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject, OwnerReference, Decoded } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { invalid, required } from '../validation/field-errors.js';

type ControllerRevision = DecodedObject<IControllerRevision>;

/** Source: ValidateControllerRevision in pkg/apis/apps/validation/validation.go. */
export const CONTROLLER_REVISION_KIND = defineKind<ControllerRevision>({
  type: {
    group: 'apps',
    version: 'v1',
    resource: 'controllerrevisions',
    kind: 'ControllerRevision',
    namespaced: true,
  },
  schema: 'io.k8s.api.apps.v1.ControllerRevision',
  ownershipFrom: 'creation',
  ...printed<ControllerRevision>(
    NAME,
    shown('Controller', (object) => {
      const owner: Decoded<OwnerReference> | undefined = controllerOf(object);
      if (!owner) return '<none>';
      const group = owner.apiVersion?.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : '';
      return `${(owner.kind ?? '').toLowerCase()}${group}/${owner.name}`;
    }),
    shown('Revision', ({ revision }) => revision ?? 0),
    AGE,
  ),
  validate({ data, revision }, errors) {
    if (data === undefined) errors.push(required('data', 'data is mandatory'));
    else if (!isJsonObject(data)) errors.push(required('data', 'data must be a valid JSON object'));
    if ((revision ?? 0) < 0) errors.push(invalid('revision', revision, NON_NEGATIVE));
  },
  validateUpdate(object, old, _subresource, errors) {
    if ((object.revision ?? 0) < 0) errors.push(invalid('revision', object.revision, NON_NEGATIVE));
    if (!sameMeaning(object.data, old.data)) errors.push(invalid('data', object.data, FIELD_IMMUTABLE));
  },
});
