import type { KubernetesObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { SERVER } from '../../access/admission/index.js';
import type { Attributes, Caller } from '../../access/admission/index.js';
import { conflict } from '../../schema/errors/index.js';
import { apiVersionOf, cloneJson } from '@rollkeeper/machinery/kubernetes';
import { isStorageUnreadable, StorageConflictError } from '../../storage/index.js';
import type { ObjectState } from '../../storage/index.js';
import { decideDeletion } from './decide-deletion.js';
import type { DeletionRequest } from './decide-deletion.js';
import { fromNewest } from './from-newest.js';
import type { Newest } from './from-newest.js';
import { settleWrite, stampTrace, removeObject } from './settle-write.js';
import { storageKeyOf } from './registry-context.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';

/** The object's state now, or its last one. */
interface DeletionOutcome extends ObjectState {
  readonly removed: boolean;
}

export interface DeleteOptions {
  readonly dryRun: boolean;
  /** On whose behalf. @default the server's own */
  readonly caller?: Caller;
  /** It has been asked about before, as an eviction. @default false */
  readonly isAdmitted?: boolean;
}

/** Deletes an object, or marks it where finalizers or a grace period keep it. */
export async function deleteObject(
  context: RegistryContext,
  target: ObjectTarget,
  request: DeletionRequest,
  options: DeleteOptions,
): Promise<DeletionOutcome> {
  return fromNewest(context, target, 'delete', async (newest) => {
    if (isUnreadable(context, target, newest))
      return removeUnreadable(context, target, newest, request, options);
    try {
      return await tryDelete(context, target, newest, request, options);
    } catch (error) {
      // A refusal counts. What makes our own code fail, because it is not what its kind is, can be judged by no one, and goes.
      if (!(error instanceof TypeError) || isValid(target, newest)) throw error;
      return removeUnreadable(context, target, newest, request, options);
    }
  });
}

/** Whether it could be created today. */
function isValid({ kind }: ObjectTarget, { stored }: Newest): boolean {
  try {
    return kind.validateCreate(cloneJson(stored.object)).length === 0;
  } catch {
    return false;
  }
}

function isUnreadable(context: RegistryContext, target: ObjectTarget, { stored }: Newest): boolean {
  try {
    return typeof stored.object !== 'object' || (context.unreadable?.has(storageKeyOf(target)) ?? false);
  } catch (error) {
    if (isStorageUnreadable(error)) return true;
    throw error;
  }
}

/** An object that cannot be understood has nothing that could keep it, and nothing that admission could judge. */
async function removeUnreadable(
  context: RegistryContext,
  target: ObjectTarget,
  { isFresh, stored: { revision } }: Newest,
  request: DeletionRequest,
  { dryRun }: DeleteOptions,
): Promise<DeletionOutcome | undefined> {
  if (!isFresh) return undefined;
  const { name, namespace } = target;
  const resourceVersion = String(revision);
  const { apiVersion, kind } = { apiVersion: apiVersionOf(target.kind.type), kind: target.kind.type.kind };
  const metadata = { name, ...(namespace !== '' && { namespace }), resourceVersion };
  const object: UnstructuredObject = { apiVersion, kind, metadata };
  checkPreconditions(target, object, request);
  if (!dryRun) await context.storage.delete(storageKeyOf(target), revision);
  return { object, removed: true };
}

/** @returns undefined when a fresher state has to be tried, as in an update */
async function tryDelete(
  context: RegistryContext,
  target: ObjectTarget,
  newest: Newest,
  request: DeletionRequest,
  { caller = SERVER, dryRun, isAdmitted = false }: DeleteOptions,
): Promise<DeletionOutcome | undefined> {
  const { json, object: current, revision } = newest.stored;
  checkPreconditions(target, current, request);
  const attributes: Attributes = {
    ...target,
    operation: 'DELETE',
    subresource: '',
    oldObject: current,
    dryRun,
    caller,
  };
  if (!isAdmitted) await context.admission.validateDeletion(attributes);
  const plan = decideDeletion(current, target.kind, request, context.clock.now());
  if ((plan.action === 'keep' || dryRun) && !newest.isFresh) return undefined;
  if (plan.action === 'keep') return { object: current, json, removed: false };
  if (dryRun) return { object: plan.object, removed: plan.action === 'remove' };
  try {
    if (plan.action === 'remove') {
      const last = await removeObject(context, target, plan.object, { attributes, revision });
      return { object: last, removed: true };
    }
    stampTrace(context, target.kind, plan.object);
    const marked = await context.storage.update(storageKeyOf(target), plan.object, revision);
    await settleWrite(context, target.kind, marked.object);
    return { object: marked.object, json: marked.json, removed: false };
  } catch (error) {
    if (error instanceof StorageConflictError) return undefined;
    throw error;
  }
}

/** @throws StatusError 409 where it is another object than the one that was meant */
export function checkPreconditions(
  { kind, name }: ObjectTarget,
  current: Readonly<KubernetesObject>,
  { preconditions = {} }: DeletionRequest,
): void {
  const { uid = '', resourceVersion = '' } = current.metadata;
  // Here the genuine server names the kind, where it names the resource everywhere else.
  const subject = { group: kind.type.group, resource: kind.type.kind };
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(
      subject,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(
      subject,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}
