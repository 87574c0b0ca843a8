import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf, cloneJson, stringifyJson, uncheckedObject } from '@rollkeeper/machinery/kubernetes';
import type { Caller } from '../admission/index.js';
import { applyConflict, conflict, notFound, StatusError } from '../errors/index.js';
import {
  applyConfig,
  describeConflicts,
  difference,
  isEmptySet,
  LAST_APPLIED,
  lastAppliedOf,
  ownersBeforeFirstApply,
  readOwners,
  shapeOfType,
  unchangedSinceLastApplied,
  writeOwners,
} from '../managed-fields/index.js';
import type { AppliedConfig, ApplyOutcome, Manager, Owners, Shape } from '../managed-fields/index.js';
import type { Subresource } from '../kinds/index.js';
import type { ObjectState } from '../storage/index.js';
import { createObject } from './create-object.js';
import { MAX_UPDATE_ATTEMPTS, storageKeyOf } from './registry-context.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';
import { updateObject } from './update-object.js';

export interface ApplyOptions {
  readonly manager: Manager;
  /** On whose behalf. @default the server's own */
  readonly caller?: Caller;
  /** Take what others own. */
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly subresource: Subresource;
}

export interface Applied extends ObjectState {
  readonly created: boolean;
}

/** The manager whose applies continue from client-side ones. */
const KUBECTL = 'kubectl';

/**
 * Server-side apply: brings an object to what a manager's configuration says, or makes it.
 * @throws StatusError 409 when others own what would change, and `force` is not set
 */
export async function applyObject(
  context: RegistryContext,
  target: ObjectTarget,
  config: Readonly<UnstructuredObject>,
  options: ApplyOptions,
): Promise<Applied> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryApply(context, target, config, options);
    } catch (error) {
      if (!(error instanceof OvertakenError) || attempt >= MAX_UPDATE_ATTEMPTS) throw error;
    }
  }
}

/** The object was created or removed concurrently. */
class OvertakenError extends Error {}

async function tryApply(
  context: RegistryContext,
  target: ObjectTarget,
  config: Readonly<UnstructuredObject>,
  options: ApplyOptions,
): Promise<Applied> {
  const { caller, dryRun, subresource } = options;
  const exists = await context.storage.get(storageKeyOf(target));
  if (!exists) {
    const { json, object } = await createApplied(context, target, config, options);
    return { object, json, created: true };
  }
  const tryUpdate = (current: Readonly<UnstructuredObject>): UnstructuredObject =>
    appliedTo(current, context, target, config, options);
  const updated = await updateObject(context, target, tryUpdate, {
    ...{ subresource, dryRun, caller },
    isPatch: true,
  }).catch((error: unknown) => {
    const isGone = error instanceof StatusError && error.status.reason === 'NotFound';
    throw isGone ? new OvertakenError('gone', { cause: error }) : error;
  });
  return { object: updated.object, json: updated.json, created: false };
}

async function createApplied(
  context: RegistryContext,
  target: ObjectTarget,
  config: Readonly<UnstructuredObject>,
  { manager, dryRun, subresource, caller }: ApplyOptions,
): Promise<ObjectState> {
  if (subresource !== '') throw notFound(target.kind.type, target.name);
  if (config.metadata.uid) {
    throw conflict(
      target.kind.type,
      target.name,
      `uid mismatch: the provided object specified uid ${config.metadata.uid}, and no existing object was found`,
    );
  }
  const time = toRfc3339(context.clock.now());
  const shape = shapeOfType(context.schemas, target.kind.schema);
  const { owners } = applyConfig({ live: undefined, config, owners: new Map(), shape, manager, time });
  const object: UnstructuredObject = cloneJson(config);
  return createObject(context, target, object, { dryRun, caller, managedFields: writeOwners(owners) }).catch(
    (error: unknown) => {
      const isThere = error instanceof StatusError && error.status.reason === 'AlreadyExists';
      throw isThere ? new OvertakenError('exists', { cause: error }) : error;
    },
  );
}

/** The owners of an object before an apply, tracked or assumed. */
export function ownersBeforeApply(
  current: Readonly<UnstructuredObject>,
  context: RegistryContext,
  { kind }: Pick<ObjectTarget, 'kind'>,
): Owners {
  const known = readOwners(current.metadata.managedFields ?? []);
  if (known && known.size > 0) return known;
  const shape = shapeOfType(context.schemas, kind.schema);
  return ownersBeforeFirstApply(current, shape, apiVersionOf(kind.type), toRfc3339(context.clock.now()));
}

/** @throws StatusError 409 when others own what would change, and `force` is not set */
export function mergeApplied(
  applied: AppliedConfig & { readonly live: Readonly<UnstructuredObject> },
  force: boolean,
): ApplyOutcome {
  const { live, manager, owners, shape } = applied;
  const outcome = applyConfig(applied);
  if (!force) refuseConflicts(outcome, owners, live, shape, manager);
  return outcome;
}

function appliedTo(
  current: Readonly<UnstructuredObject>,
  context: RegistryContext,
  target: ObjectTarget,
  config: Readonly<UnstructuredObject>,
  { manager, force }: ApplyOptions,
): UnstructuredObject {
  const shape = shapeOfType(context.schemas, target.kind.schema);
  const time = toRfc3339(context.clock.now());
  const owners = ownersBeforeApply(current, context, target);
  const outcome = mergeApplied({ live: current, config, owners, shape, manager, time }, force);
  // What is shared with the current state may be changed afterwards.
  const candidate = uncheckedObject(cloneJson(outcome.object));
  candidate.metadata.managedFields = writeOwners(outcome.owners);
  if (!config.metadata.resourceVersion) candidate.metadata.resourceVersion = undefined;
  if (manager.name === KUBECTL && lastAppliedOf(current)) renewLastApplied(candidate, config);
  return candidate;
}

function refuseConflicts(
  { conflicts }: ApplyOutcome,
  owners: Owners,
  current: Readonly<UnstructuredObject>,
  shape: Shape,
  manager: Manager,
): void {
  const allowed = manager.name === KUBECTL ? unchangedSinceLastApplied(current, shape) : undefined;
  const refused = conflicts
    .map(({ manager: other, fields }) => ({
      manager: other,
      fields: allowed ? difference(fields, allowed) : fields,
    }))
    .filter(({ fields }) => !isEmptySet(fields));
  if (refused.length === 0) return;
  const { message, causes } = describeConflicts(refused);
  throw applyConflict(message, causes);
}

/** Keeps last-applied current for a return to client-side apply. */
function renewLastApplied(candidate: UnstructuredObject, config: Readonly<UnstructuredObject>): void {
  const metadata = { ...config.metadata, annotations: { ...config.metadata.annotations } };
  delete metadata.annotations[LAST_APPLIED];
  const { annotations, ...rest } = metadata;
  const written = { ...config, metadata: Object.keys(annotations).length > 0 ? metadata : rest };
  (candidate.metadata.annotations ??= {})[LAST_APPLIED] = `${stringifyJson(written)}\n`;
}
