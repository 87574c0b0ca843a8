import { LongWork } from '@rollkeeper/machinery/clock';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { goQuote, sameJson, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import { SERVER } from '../../access/admission/index.js';
import type { Caller, SentType, WriteAttributes } from '../../access/admission/index.js';
import { conflict, invalid, unexpected } from '../../schema/errors/index.js';
import type { FieldError } from '../../schema/errors/index.js';
import type { Manager } from '../../schema/managed-fields/index.js';
import { isDefinedByUsers } from '../../kinds/index.js';
import type { Subresource } from '../../kinds/index.js';
import { writeEmpties } from '../../schema/index.js';
import { StorageConflictError } from '../../storage/index.js';
import type { ObjectState, StoredObject } from '../../storage/index.js';
import { fromNewest } from './from-newest.js';
import type { Newest } from './from-newest.js';
import { etcdPath } from './etcd-path.js';
import { asRead, identifyUpdated } from './object-identity.js';
import { settleWrite, stampTrace, removeObject } from './settle-write.js';
import { dropRepeatedOwners } from './repeated-owners.js';
import { storageKeyOf } from './registry-context.js';
import { reserve } from './reservations.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';
import { isReadyToGo } from './decide-deletion.js';
import { trackUpdate } from './track-ownership.js';

/**
 * Computes the new state from the current one. May run several times, each time with a newer state, which it may not
 * change; only its last answer, or error, counts. A `metadata.resourceVersion` in its answer that is not the current
 * one is a conflict.
 */
type TryUpdate = (current: Readonly<UnstructuredObject>) => UnstructuredObject | Promise<UnstructuredObject>;

/** The part that an update may change. That a binding changes nothing else is the business of its handler. */
type UpdatedPart = Subresource | 'binding';

interface UpdateOptions {
  readonly subresource: UpdatedPart;
  /** A patch, whose UID is a field like any other, and no precondition. @default false */
  readonly isPatch?: boolean;
  readonly dryRun: boolean;
  /** The manager that changes it. @default the server itself; then the ownership stays as `tryUpdate` left it */
  readonly manager?: Manager;
  /** On whose behalf. @default the server's own */
  readonly caller?: Caller;
  /** The question to admission: nothing more if that has been `done`. @default about the new state of the object */
  readonly admission?: 'done' | AdmittedForm;
}

/** The object that admission sees in place of the stored one, and may have changed before: its Scale. */
interface AdmittedForm {
  readonly subresource: string;
  readonly sent: SentType;
  of(object: Readonly<UnstructuredObject>): UnstructuredObject;
}

/**
 * Changes an object from its current state, and retries after a concurrent change, like apiserver's `GuaranteedUpdate`.
 * An update that changes nothing is not written. One that removes the last finalizer from a deleted object removes the
 * object.
 */
export function updateObject(
  context: RegistryContext,
  target: ObjectTarget,
  tryUpdate: TryUpdate,
  options: UpdateOptions,
): Promise<ObjectState> {
  return fromNewest(context, target, 'update', (newest) =>
    tryOnce(context, target, newest, tryUpdate, options),
  );
}

/**
 * @returns undefined if a newer state has to be tried: after a concurrent change, if the caller did not ask for a
 *   certain version, or if nothing would be written, so that the store could not verify that this was the current state
 */
async function tryOnce(
  context: RegistryContext,
  target: ObjectTarget,
  newest: Newest,
  tryUpdate: TryUpdate,
  options: UpdateOptions,
): Promise<ObjectState | undefined> {
  // A write that would not happen proves nothing of a state that is only remembered.
  if (options.dryRun && !newest.isFresh) return undefined;
  const state = newest.stored;
  const { object: current, revision } = state;
  const work = new LongWork(context.clock);
  const candidate = await tryUpdate(current);
  await work.giveWay();
  const asked = checkAskedVersion(target, candidate, current);
  const attributes = {
    ...target,
    operation: 'UPDATE' as const,
    subresource: options.subresource,
    object: candidate,
    oldObject: current,
    dryRun: options.dryRun,
    caller: options.caller ?? SERVER,
  };
  completeUpdate(target, candidate, current, options);
  dropRepeatedOwners(candidate, attributes.caller);
  await work.giveWay();
  const { admission } = options;
  if (!admission) await context.admission.mutate(attributes);
  else if (admission !== 'done')
    context.admission.completeBehind({ ...attributes, subresource: admission.subresource });
  identifyUpdated(target, candidate, current);
  const kept = await prepareUpdate(context, target, attributes, options.subresource);
  for (const { field, message } of kept) attributes.caller.warn(`${field}: ${message}`);
  await work.giveWay();
  writeEmpties(candidate, context.schemas, target.kind.schema, current);
  await trackUpdate(context, target, candidate, current, options.manager, work);
  await work.giveWay();
  const isSame = isUnchanged(target, candidate, current);
  if (isSame && !newest.isFresh) return undefined;
  await work.giveWay();
  const warnings = options.subresource === '' ? target.kind.warnings?.(candidate, current) : undefined;
  for (const warning of warnings ?? []) attributes.caller.warn(warning);
  await validate(context, attributes, options.admission);
  await work.giveWay();
  if (isSame) return state;
  if (options.dryRun) {
    await context.admission.checkQuotas(attributes);
    await reserve(context, target, candidate, { old: current, dryRun: true });
    return { object: asRead(target.kind, candidate) };
  }
  return store(context, target, candidate, { attributes, asked, current, revision });
}

/**
 * @returns the version that the caller asked for
 * @throws StatusError if it is no version, or another than the current one
 */
function checkAskedVersion(
  target: ObjectTarget,
  candidate: Readonly<UnstructuredObject>,
  current: Readonly<UnstructuredObject>,
): string | undefined {
  const asked = candidate.metadata.resourceVersion;
  if (asked && !/^\d+$/.test(asked))
    throw unexpected(`strconv.ParseUint: parsing ${goQuote(asked)}: invalid syntax`);
  // The first version of all is any.
  if (asked && asked !== '0' && asked !== current.metadata.resourceVersion)
    throw conflict(target.kind.type, target.name);
  return asked;
}

interface Admitted {
  readonly attributes: WriteAttributes;
  /** The version that the caller asked for. */
  readonly asked: string | undefined;
  readonly current: Readonly<UnstructuredObject>;
  readonly revision: StoredObject['revision'];
}

/**
 * Writes or removes what has been admitted. @returns undefined after a concurrent change, if the caller asked for no particular
 * version
 */
async function store(
  context: RegistryContext,
  target: ObjectTarget,
  candidate: UnstructuredObject,
  { asked, attributes, current, revision }: Admitted,
): Promise<ObjectState | undefined> {
  const reserved = await reserve(context, target, candidate, { old: current, dryRun: false });
  stampTrace(context, target.kind, candidate);
  try {
    if (isReadyToGo(candidate))
      return { object: await removeObject(context, target, candidate, { attributes, revision }) };
    const written = await context.admission.booked(attributes, () =>
      context.storage.update(storageKeyOf(target), candidate, revision),
    );
    await reserved.settle();
    await settleWrite(context, target.kind, written.object);
    return written;
  } catch (error) {
    await reserved.undo();
    if (error instanceof StorageConflictError && (!asked || asked === '0')) return undefined;
    throw error;
  }
}

function validate(
  { admission }: RegistryContext,
  attributes: WriteAttributes,
  asked: UpdateOptions['admission'],
): void | Promise<void> {
  if (asked === 'done') return;
  if (!asked) return admission.validate(attributes);
  const { object, oldObject } = attributes;
  const { sent, subresource } = asked;
  const before = oldObject && { oldObject: asked.of(oldObject) };
  return admission.validate({ ...attributes, subresource, sent, object: asked.of(object), ...before });
}

/** Completes what the new state leaves out; it has the current resourceVersion afterwards. */
function completeUpdate(
  target: ObjectTarget,
  candidate: UnstructuredObject,
  current: Readonly<UnstructuredObject>,
  { isPatch = false }: UpdateOptions,
): void {
  const { kind, name } = target;
  const meta = candidate.metadata;
  const old = current.metadata;
  if (!isPatch && meta.uid && meta.uid !== old.uid) {
    throw conflict(
      kind.type,
      name,
      `StorageError: invalid object, Code: 4, Key: ${etcdPath(target)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${meta.uid}, UID in object meta: ${old.uid ?? ''}`,
    );
  }
  meta.resourceVersion = old.resourceVersion;
  if (old.generateName !== undefined) meta.generateName = old.generateName;
  Reflect.deleteProperty(meta, 'selfLink');
  if (meta.namespace === undefined && old.namespace !== undefined) meta.namespace = old.namespace;
  kind.applyDefaults(candidate);
}

/**
 * Objects of user-defined kinds are kept as they were sent: an empty object there is a value, which has a meaning in many APIs.
 */
function isUnchanged(
  { kind }: ObjectTarget,
  candidate: UnstructuredObject,
  current: Readonly<UnstructuredObject>,
): boolean {
  if (!haveSameOwners(candidate, current)) return false;
  const unowned = withOwnersOf(candidate, current);
  return isDefinedByUsers(kind) ? sameJson(unowned, current) : sameMeaning(unowned, current);
}

/**
 * In the sets of owned fields, what looks empty says something; the times do not: an apply that changes nothing else is none.
 * Source: `ignoreManagedFieldsTimestampsTransformer` of apiserver.
 */
function haveSameOwners(candidate: UnstructuredObject, current: Readonly<UnstructuredObject>): boolean {
  return sameJson(timeless(candidate), timeless(current));
}

function timeless({ metadata: { managedFields } }: Readonly<UnstructuredObject>): unknown {
  return managedFields?.map((entry) => ({ ...(entry as object), time: undefined }));
}

function withOwnersOf(
  candidate: UnstructuredObject,
  { metadata: { managedFields } }: Readonly<UnstructuredObject>,
): UnstructuredObject {
  if (candidate.metadata.managedFields === managedFields) return candidate;
  return { ...candidate, metadata: { ...candidate.metadata, managedFields } };
}

/**
 * Carries over what this part may not change, and validates the new state.
 * @returns what is wrong with it, and was before
 * @throws StatusError 422
 */
async function prepareUpdate(
  context: RegistryContext,
  target: ObjectTarget,
  attributes: WriteAttributes & { readonly oldObject: Readonly<UnstructuredObject> },
  subresource: UpdatedPart,
): Promise<readonly FieldError[]> {
  const { kind, name } = target;
  const { object: candidate, oldObject: current } = attributes;
  // A binding changes what its handler says, and nothing else.
  if (subresource === 'binding') return [];
  kind.prepareForUpdate(candidate, current, subresource, context.clock.now());
  context.guard?.(target, candidate, current);
  const found = [
    ...(await context.admission.problems(attributes)),
    ...kind.validateUpdate(candidate, current, subresource, context.clock.now()),
  ];
  const errors = found.filter(({ isKept }) => !isKept);
  if (errors.length === 0) errors.push(...(context.judge?.(target, candidate, current) ?? []));
  if (errors.length > 0) throw invalid(kind.refusedAs ?? kind.type, name, errors);
  return found;
}
