import { difference, isEmptySet, setOf, union } from './field-set.js';
import type { FieldSet } from './field-set.js';
import type { Owners, Ownership } from './managers.js';

const SCALE_VERSION = 'autoscaling/v1';
const REPLICAS_OF_SCALE = setOf(['f:spec', 'f:replicas']);

/**
 * Returns the owners of an object's replica count, as owners of its Scale. @param replicas the count's path in the
 * object
 */
export function ownersOfScale(owners: Owners, replicas: FieldSet): Owners {
  const found = new Map<string, Ownership>();
  for (const [key, owner] of owners) {
    if (!ownsAll(owner.fields, replicas)) continue;
    found.set(key, {
      ...owner,
      manager: { ...owner.manager, apiVersion: SCALE_VERSION },
      fields: REPLICAS_OF_SCALE,
    });
  }
  return found;
}

/**
 * The owners of the object after its Scale was written: the owner of the count there is its only owner here. Source of
 * the rules: `ScaleHandler` of apimachinery's managedfields.
 * @param apiVersion the object's
 */
export function ownersAfterScale(
  owners: Owners,
  scale: Owners,
  { replicas, apiVersion }: { readonly replicas: FieldSet; readonly apiVersion: string },
): Owners {
  const after = new Map<string, Ownership>();
  for (const [key, owner] of owners) {
    const fields = scale.has(key) ? owner.fields : difference(owner.fields, replicas);
    if (!isEmptySet(fields)) after.set(key, { ...owner, fields });
  }
  for (const [key, { manager, time }] of scale) {
    const fields = union(after.get(key)?.fields ?? replicas, replicas);
    after.set(key, { manager: after.get(key)?.manager ?? { ...manager, apiVersion }, fields, time });
  }
  return after;
}

function ownsAll(fields: FieldSet, part: FieldSet): boolean {
  return isEmptySet(difference(part, fields));
}
