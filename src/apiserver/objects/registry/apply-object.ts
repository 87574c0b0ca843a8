import { LongWork, toRfc3339 } from '@rollkeeper/machinery/clock';
import type { Pieces } from '@rollkeeper/machinery/clock';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import {
  apiVersionOf,
  cloneJson,
  isJsonObject,
  isList,
  ownField,
  stringifyJson,
} from '@rollkeeper/machinery/kubernetes';
import type { Caller } from '../../access/admission/index.js';
import { applyConflict, conflict, notFound, StatusError } from '../../schema/errors/index.js';
import {
  applyInPieces,
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
} from '../../schema/managed-fields/index.js';
import type {
  AppliedConfig,
  ApplyOutcome,
  Manager,
  Owners,
  Shape,
} from '../../schema/managed-fields/index.js';
import type { Subresource } from '../../kinds/index.js';
import { emptyObjectOf } from '../../schema/index.js';
import type { ObjectState } from '../../storage/index.js';
import { createObject } from './create-object.js';
import { MAX_UPDATE_ATTEMPTS, storageKeyOf } from './registry-context.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';
import { putOwners } from './track-ownership.js';
import { updateObject } from './update-object.js';

export interface ApplyOptions {
  readonly manager: Manager;
  /** On whose behalf. @default the server's own */
  readonly caller?: Caller;
  /** Take what others own. */
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly subresource: Subresource;
  /** Makes of the configuration, laid over the object, what its type has. Changes its argument, and may refuse it. */
  readonly complete: (merged: Record<string, unknown>) => UnstructuredObject;
}

/** The configuration that a manager applies, as it is written. */
export type Config = Readonly<Record<string, unknown>>;

interface Applied extends ObjectState {
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
  config: Config,
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
  config: Config,
  options: ApplyOptions,
): Promise<Applied> {
  const { caller, dryRun, subresource } = options;
  const exists = await context.storage.get(storageKeyOf(target));
  if (!exists) {
    const { json, object } = await createApplied(context, target, config, options);
    return { object, json, created: true };
  }
  const tryUpdate = (current: Readonly<UnstructuredObject>): Promise<UnstructuredObject> =>
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
  config: Config,
  { manager, dryRun, subresource, caller, complete }: ApplyOptions,
): Promise<ObjectState> {
  if (subresource !== '') throw notFound(target.kind.type, target.name);
  const uid = ownField(metadataOf(config), 'uid');
  if (typeof uid === 'string' && uid !== '') {
    throw conflict(
      target.kind.type,
      target.name,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    );
  }
  const { schemas } = context;
  const { schema } = target.kind;
  const work = new LongWork(context.clock);
  const applied = applyInPieces({
    ...{ live: emptyObjectOf(schemas, schema), config, owners: new Map(), manager },
    ...{ shape: shapeOfType(schemas, schema), time: toRfc3339(context.clock.now()) },
  });
  const outcome = await work.run(applied);
  await work.giveWay();
  const object = complete(cloneJson(outcome.object) as Record<string, unknown>);
  await work.giveWay();
  const managedFields = writeOwners(outcome.owners);
  await work.giveWay();
  return createObject(context, target, object, { dryRun, caller, managedFields }).catch((error: unknown) => {
    const isThere = error instanceof StatusError && error.status.reason === 'AlreadyExists';
    throw isThere ? new OvertakenError('exists', { cause: error }) : error;
  });
}

/** The owners of an object before an apply, tracked or assumed. */
export function ownersBeforeApply(
  current: Readonly<UnstructuredObject>,
  context: RegistryContext,
  { kind }: Pick<ObjectTarget, 'kind'>,
): Owners {
  const known = readOwners(current.metadata.managedFields ?? []);
  if (known && known.size > 0) return known;
  return ownersBeforeFirstApply(current, {
    shape: shapeOfType(context.schemas, kind.schema),
    empty: emptyObjectOf(context.schemas, kind.schema),
    apiVersion: apiVersionOf(kind.type),
    time: toRfc3339(context.clock.now()),
  });
}

/** @throws StatusError 409 when others own what would change, and `force` is not set */
export function* mergeApplied(
  applied: AppliedConfig & { readonly live: Readonly<UnstructuredObject> },
  force: boolean,
): Pieces<ApplyOutcome> {
  const { live, manager, owners, shape } = applied;
  const outcome = yield* applyInPieces(applied);
  yield;
  if (!force) refuseConflicts(outcome, owners, live, shape, manager);
  return outcome;
}

async function appliedTo(
  current: Readonly<UnstructuredObject>,
  context: RegistryContext,
  target: ObjectTarget,
  config: Config,
  { manager, force, complete }: ApplyOptions,
): Promise<UnstructuredObject> {
  const work = new LongWork(context.clock);
  const shape = shapeOfType(context.schemas, target.kind.schema);
  const time = toRfc3339(context.clock.now());
  const owners = ownersBeforeApply(current, context, target);
  await work.giveWay();
  const outcome = await work.run(
    mergeApplied({ live: current, config, owners, shape, manager, time }, force),
  );
  await work.giveWay();
  // The parts that are shared with the current state may be changed afterwards.
  const candidate = complete(cloneJson(outcome.object) as Record<string, unknown>);
  await work.giveWay();
  putOwners(candidate, writeOwners(outcome.owners));
  if (!ownField(metadataOf(config), 'resourceVersion')) candidate.metadata.resourceVersion = undefined;
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

/** Keeps last-applied current for a return to client-side apply: the configuration as it is written. */
function renewLastApplied(candidate: UnstructuredObject, config: Config): void {
  const metadata = { ...metadataOf(config) };
  if (isJsonObject(metadata.annotations)) {
    const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations;
    metadata.annotations = annotations;
  }
  const written = `${stringifyJson(inKeyOrder({ ...config, metadata }))}\n`;
  (candidate.metadata.annotations ??= {})[LAST_APPLIED] = written;
}

/** As Go writes maps. */
function inKeyOrder(value: unknown): unknown {
  if (isList(value)) return value.map(inKeyOrder);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, inKeyOrder(value[name])]));
}

function metadataOf({ metadata }: Config): Record<string, unknown> {
  return isJsonObject(metadata) ? metadata : {};
}
