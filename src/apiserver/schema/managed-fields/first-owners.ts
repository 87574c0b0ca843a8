import { difference, setOf, union } from './field-set.js';
import { fieldsOf } from './fields-of.js';
import { withoutOtherPart, withoutServerFields } from './ignored-fields.js';
import { LAST_APPLIED, lastAppliedOf } from './last-applied.js';
import { ownedFields, withOwner } from './managers.js';
import type { Manager, Owners } from './managers.js';
import { typeOf } from './shape.js';
import type { Shape } from './shape.js';
import { ownersAfterUpdate } from './update.js';

interface FirstApply {
  readonly shape: Shape;
  /** An object of the type with nothing in it. */
  readonly empty: unknown;
  readonly apiVersion: string;
  /** RFC 3339. */
  readonly time: string;
}

/**
 * The owners of an object without tracked ownership before its first apply: fields recorded by client-side apply belong
 * to kubectl, so that kubectl can take over; the rest to a nameless updater, as in a genuine server.
 */
export function ownersBeforeFirstApply(
  live: unknown,
  { apiVersion, empty, shape, time }: FirstApply,
): Owners {
  const updater = (name: string): Manager => ({ name, operation: 'Update', apiVersion, subresource: '' });
  const unknown = updater('before-first-apply');
  const owners = ownersAfterUpdate(new Map(), { before: empty, after: live, shape }, unknown, time);
  const config = lastAppliedOf(live);
  if (!config) return owners;
  const annotation = setOf(['f:metadata', 'f:annotations', `f:${LAST_APPLIED}`]);
  const applied = union(
    withoutOtherPart(withoutServerFields(fieldsOf(config, shape)), '', typeOf(shape)),
    annotation,
  );
  const rest = difference(ownedFields(owners, unknown), applied);
  return withOwner(
    withOwner(owners, unknown, rest, time),
    updater('kubectl-client-side-apply'),
    applied,
    time,
  );
}
