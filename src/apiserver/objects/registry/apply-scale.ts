import { atOnce, toRfc3339 } from '@rollkeeper/machinery/clock';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf, cloneJson } from '@rollkeeper/machinery/kubernetes';
import type { ScaleMapping } from '../../kinds/index.js';
import {
  ownersAfterScale,
  ownersOfScale,
  setOf,
  shapeOfType,
  writeOwners,
} from '../../schema/managed-fields/index.js';
import type { ManagedFieldsEntry, Manager } from '../../schema/managed-fields/index.js';
import { mergeApplied, ownersBeforeApply } from './apply-object.js';
import type { ApplyOptions, Config } from './apply-object.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';

interface AppliedScale {
  /** The object as it is. */
  readonly current: Readonly<UnstructuredObject>;
  /** Its Scale as it is, of the type named `schema`. */
  readonly scale: UnstructuredObject;
  readonly schema: string;
  readonly mapping: ScaleMapping;
  readonly config: Config;
  readonly manager: Manager;
  /** Take the replica count from its owner. */
  readonly force: boolean;
  /** As for {@link ApplyOptions}. */
  readonly complete: ApplyOptions['complete'];
}

/**
 * Server-side apply to the Scale of an object. Returns the new Scale, and the new owners of the object's fields.
 * @throws StatusError 409 when others own the replica count, and `force` is not set
 */
export function applyScale(
  context: RegistryContext,
  target: Pick<ObjectTarget, 'kind'>,
  { complete, config, current, force, manager, mapping, scale, schema }: AppliedScale,
): { readonly scale: UnstructuredObject; readonly managedFields: ManagedFieldsEntry[] } {
  const owners = ownersBeforeApply(current, context, target);
  const replicas = setOf(mapping.replicasPath.map((name) => `f:${name}`));
  const applied = {
    ...{ live: scale, config, manager },
    owners: ownersOfScale(owners, replicas),
    shape: shapeOfType(context.schemas, schema),
    time: toRfc3339(context.clock.now()),
  };
  const outcome = atOnce(mergeApplied(applied, force));
  const place = { replicas, apiVersion: apiVersionOf(target.kind.type) };
  return {
    scale: complete(cloneJson(outcome.object) as Record<string, unknown>),
    managedFields: writeOwners(ownersAfterScale(owners, outcome.owners, place)),
  };
}
