import { LongWork } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { ServiceAccount, applyGeneratedName, isTerminating } from '@rollkeeper/machinery/kubernetes';
import type { ObjectMeta, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { alreadyExists, invalid, methodNotAllowed, StatusError } from '../../schema/errors/index.js';
import { SERVER } from '../../access/admission/index.js';
import type { Caller, WriteAttributes } from '../../access/admission/index.js';
import type { ManagedFieldsEntry, Manager } from '../../schema/managed-fields/index.js';
import { asRead, identifyNew, refuseVersion, wipeSystemFields } from './object-identity.js';
import { settleWrite, stampTrace } from './settle-write.js';
import { isNamespace, storageKeyOf } from './registry-context.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';
import { dropRepeatedOwners } from './repeated-owners.js';
import { reserve } from './reservations.js';
import { writeEmpties } from '../../schema/index.js';
import { StorageExistsError } from '../../storage/index.js';
import type { ObjectState } from '../../storage/index.js';
import { ownersOfNew } from './track-ownership.js';
import { translateStorageError } from './translate-storage-error.js';

interface CreateOptions {
  /** Do everything but the last step. */
  readonly dryRun: boolean;
  /** The manager that creates it. @default the server itself, which owns nothing */
  readonly manager?: Manager;
  /** On whose behalf. @default the server's own */
  readonly caller?: Caller;
  /** The owners of its fields, if they are known already. */
  readonly managedFields?: ManagedFieldsEntry[];
}

/** How often a generated name that is taken is replaced by another. */
const NAME_ATTEMPTS = 8;

/**
 * Admits, completes, validates and stores a new object.
 * @param object is changed; belongs to the store afterwards
 */
export async function createObject(
  context: RegistryContext,
  target: Omit<ObjectTarget, 'name'>,
  object: UnstructuredObject,
  options: CreateOptions,
): Promise<ObjectState> {
  if (target.kind.refusesCreation) throw methodNotAllowed(target.kind.refusesCreation);
  const work = new LongWork(context.clock);
  prepare(target, object, options);
  dropRepeatedOwners(object, options.caller ?? SERVER);
  await work.giveWay();
  const { name = '' }: Partial<ObjectMeta> = object.metadata;
  const attributes: WriteAttributes = {
    ...target,
    operation: 'CREATE',
    subresource: '',
    name,
    object,
    dryRun: options.dryRun,
    caller: options.caller ?? SERVER,
  };
  const managedFields =
    options.managedFields ?? (await ownersOfNew(context, target, object, options.manager, work));
  await work.giveWay();
  await context.admission.mutate({ ...attributes, shownAs: prefixOfGenerated(object.metadata) });
  identifyNew(target, object, { clock: context.clock, random: context.random, dryRun: options.dryRun });
  // Fields added by admission and the server have no owner: another manager may set them without a conflict.
  if (managedFields && managedFields.length > 0) object.metadata.managedFields = managedFields;
  else delete object.metadata.managedFields;
  const generated = !object.metadata.name && !!object.metadata.generateName;
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryCreate(context, attributes, options, work);
    } catch (error) {
      const taken = error instanceof StatusError && error.status.reason === 'AlreadyExists';
      if (!generated || !taken || attempt >= NAME_ATTEMPTS) throw error;
      object.metadata.name = '';
    }
  }
}

/** The length of the suffix that is appended to a prefix. */
const GENERATED_LENGTH = 5;

/**
 * A genuine controller leaves the rest of the name to the server, which makes it up after the mutating plug-ins; ours say both, so
 * that a repeated creation is known. @returns undefined for a name of another origin
 */
function prefixOfGenerated({ generateName, name }: Partial<ObjectMeta>): string | undefined {
  if (!generateName || !name?.startsWith(generateName)) return undefined;
  return name.length === generateName.length + GENERATED_LENGTH ? generateName : undefined;
}

async function tryCreate(
  context: RegistryContext,
  attributes: WriteAttributes,
  options: CreateOptions,
  work: LongWork,
): Promise<ObjectState> {
  const { kind, namespace, object } = attributes;
  await work.giveWay();
  applyGeneratedName(object, context.random);
  // Some kinds name themselves.
  kind.prepareForCreate(object, context.clock.now());
  const { name = '' }: Partial<ObjectMeta> = object.metadata;
  const target: ObjectTarget = { kind, namespace, name };
  context.guard?.(target, object);
  const errors = [...(await context.admission.problems(attributes)), ...kind.validateCreate(object)];
  if (errors.length === 0) errors.push(...(context.judge?.(target, object) ?? []));
  if (errors.length > 0) throw invalid(kind.refusedAs ?? kind.type, name, errors);
  // Allocations come first.
  const warn = (): void => {
    for (const warning of kind.warnings?.(object) ?? []) attributes.caller.warn(warning);
  };
  await work.giveWay();
  if (!kind.reservations) warn();
  writeEmpties(object, context.schemas, kind.schema);
  await work.giveWay();
  await context.admission.validate(attributes);
  const reserved = await reserve(context, target, object, options);
  if (kind.reservations) warn();
  await work.giveWay();
  if (options.dryRun) return { object: asRead(kind, await dryRun(context, target, attributes)) };
  stampTrace(context, kind, object);
  try {
    const stored = await context.admission.booked(attributes, () =>
      context.storage.create(storageKeyOf(target), object),
    );
    if (isNamespace(kind)) await ensureDefaultServiceAccount(context, target.name);
    await settleWrite(context, kind, stored.object);
    return stored;
  } catch (error) {
    await reserved.undo();
    throw error instanceof StorageExistsError
      ? await existsAlready(context, target)
      : translateStorageError(error, target);
  }
}

/**
 * Creates a namespace's default ServiceAccount. A genuine cluster's controller does so a moment later; the namespace
 * works without it, so a failure is only logged.
 */
export async function ensureDefaultServiceAccount(
  context: RegistryContext,
  namespace: string,
): Promise<void> {
  const kind = context.kinds.find('', 'v1', ServiceAccount.resource);
  if (!kind) return;
  const account: UnstructuredObject = {
    apiVersion: 'v1',
    kind: ServiceAccount.kind,
    metadata: { name: 'default' },
  };
  try {
    await createObject(context, { kind, namespace }, account, { dryRun: false });
  } catch (error) {
    if (error instanceof StatusError && error.status.reason === 'AlreadyExists') return;
    context.logger.warn('a namespace has no default service account', {
      namespace,
      error: errorMessage(error),
    });
  }
}

/** Prepares an object before admission. As in a genuine server it has no UID yet. */
function prepare(
  { kind, namespace }: Omit<ObjectTarget, 'name'>,
  object: UnstructuredObject,
  options: CreateOptions,
): void {
  refuseVersion(object, options);
  wipeSystemFields(object);
  if (namespace !== '') object.metadata.namespace = namespace;
  else delete object.metadata.namespace;
  kind.applyDefaults(object);
}

async function dryRun(
  context: RegistryContext,
  target: ObjectTarget,
  attributes: WriteAttributes,
): Promise<UnstructuredObject> {
  await context.admission.checkQuotas(attributes);
  const existing = await context.storage.get(storageKeyOf(target));
  if (existing) throw await existsAlready(context, target);
  return attributes.object;
}

/** An object that is going away gives its name back later. */
async function existsAlready({ storage }: RegistryContext, target: ObjectTarget): Promise<StatusError> {
  const existing = await storage.get(storageKeyOf(target)).catch(() => undefined);
  const isGoing = existing !== undefined && isTerminating(existing.object);
  return alreadyExists(target.kind.type, target.name, isGoing);
}
