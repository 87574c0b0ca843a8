import type { FieldSet } from './field-set.js';
import { difference, recursiveDifference, setOf } from './field-set.js';

/** Fields that only the server writes; they have no owner. Source: `stripMeta` of apimachinery's managedfields. */
const SERVER_FIELDS = setOf(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
);

const STATUS = setOf(['f:status']);
const SPEC = setOf(['f:spec']);

export function withoutServerFields(set: FieldSet): FieldSet {
  return difference(set, SERVER_FIELDS);
}

/** Parts of an applied configuration that have no effect: a status in the object, a spec in its status. */
export function withoutOtherPart(set: FieldSet, subresource: string): FieldSet {
  return recursiveDifference(set, subresource === 'status' ? SPEC : STATUS);
}
