import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { Pod, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import {
  cloneJson,
  objectOfKind,
  ON_EVICTION,
  qualifiedResource,
  SURGE,
} from '@rollkeeper/machinery/kubernetes';
import { StatusError, evictionHeld, notFound, severalBudgets } from '../../schema/errors/index.js';
import type { KindDefinition } from '../../kinds/index.js';
import type { DeletionRequest } from './decide-deletion.js';
import type { DisruptionBudget } from './decide-eviction.js';
import { budgetIsNew, budgetsOf, decideEvictionRule, takeFromBudget } from './decide-eviction.js';
import { checkPreconditions, deleteObject } from './delete-object.js';
import type { DeleteOptions } from './delete-object.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';
import type { FoundReplacement } from './replace-first.js';
import { findReplacement, noteAsked } from './replace-first.js';
import { MAX_UPDATE_ATTEMPTS, storageKeyOf } from './registry-context.js';
import { translateStorageError } from './translate-storage-error.js';
import { updateObject } from './update-object.js';

const BUDGETS = ['policy', 'v1', 'poddisruptionbudgets'] as const;

interface EvictionRequest extends DeletionRequest, DeleteOptions {}

/**
 * Deletes a pod where the budget that speaks for it allows that. Of evictions at the same time each takes its own from the
 * budget: the budget's status is written before the pod goes, and only from the state that was read. A pod that its Deployment replaces
 * first is marked, and the Deployment's controller lets it go.
 * @throws StatusError 429 where the budget is used up, or a pod in its place is awaited
 */
export async function evictPod(
  context: RegistryContext,
  target: ObjectTarget,
  request: EvictionRequest,
): Promise<void> {
  const asked = request.preconditions ?? {};
  for (let attempt = 1; ; attempt++) {
    const pod = await readPod(context, target);
    checkPreconditions(target, pod, request);
    const budgetKind = context.kinds.find(...BUDGETS);
    const [budget, ...others] = budgetKind ? budgetsOf(pod, await readBudgets(context, pod, budgetKind)) : [];
    const rule = decideEvictionRule(pod, budget);
    if (rule !== 'free' && others.length > 0) throw severalBudgets();
    const found = await findReplacement(context, pod);
    await holdReplaced(context, target, pod, { ...request, found });
    if (rule === 'counted' && budget && budgetKind) {
      const from = { kind: budgetKind, namespace: target.namespace, name: budget.metadata.name };
      await takeOne(context, from, pod, request).catch(async (error: unknown) => {
        if (found?.replacement === 'noted' && isTooMany(error))
          await noteAsked(context, target, pod, request);
        throw error;
      });
    }
    // A pod that counted for nothing when we looked must not have become ready since.
    const isGuarded = rule === 'unready' || pod.status?.phase === 'Pending';
    const { resourceVersion, uid } = pod.metadata;
    const seen = { uid, ...(isGuarded && { resourceVersion }) };
    try {
      const preconditions = await announce(context, target, seen, request.dryRun);
      await deleteObject(context, target, { ...request, preconditions }, { ...request, isAdmitted: true });
      return;
    } catch (error) {
      if (!isConflict(error) || !isGuarded) throw error;
      if (rule === 'unready' && budget) throw budgetIsNew(budget.metadata.name);
      if (asked.resourceVersion !== undefined || attempt >= MAX_UPDATE_ATTEMPTS) throw error;
    }
  }
}

/** @throws StatusError 429 for as long as the controller of the pod's Deployment has not let it go */
async function holdReplaced(
  context: RegistryContext,
  target: ObjectTarget,
  pod: Pod,
  { dryRun, found }: { readonly dryRun: boolean; readonly found: FoundReplacement | undefined },
): Promise<void> {
  if (found?.replacement !== 'replaced') return;
  await noteAsked(context, target, pod, { dryRun });
  throw evictionHeld(`Deployment ${found.by} starts another pod first (${ON_EVICTION}: ${SURGE})`);
}

async function readPod(context: RegistryContext, target: ObjectTarget): Promise<Pod> {
  try {
    const stored = await context.storage.get(storageKeyOf(target));
    if (!stored) throw notFound(target.kind.type, target.name);
    return objectOfKind(stored.object);
  } catch (error) {
    throw translateStorageError(error, target);
  }
}

async function readBudgets(
  context: RegistryContext,
  { metadata }: Pod,
  kind: KindDefinition,
): Promise<DisruptionBudget[]> {
  const { namespace = '' } = metadata;
  try {
    const { items } = await context.storage.list(qualifiedResource(kind.type), { namespace });
    return items.map(({ object }) => objectOfKind(object));
  } catch (error) {
    throw translateStorageError(error, { kind, namespace, name: '' });
  }
}

async function takeOne(
  context: RegistryContext,
  target: ObjectTarget,
  { metadata }: Pod,
  { dryRun }: EvictionRequest,
): Promise<void> {
  await updateObject(
    context,
    target,
    (current) => takeFromBudget(objectOfKind<DisruptionBudget>(current), metadata.name, context.clock.now()),
    { subresource: 'status', dryRun },
  );
}

/** Says on the pod why it goes. @returns by what the deletion knows that it is still that pod */
async function announce(
  context: RegistryContext,
  target: ObjectTarget,
  seen: NonNullable<DeletionRequest['preconditions']>,
  dryRun: boolean,
): Promise<NonNullable<DeletionRequest['preconditions']>> {
  const told = await updateObject(
    context,
    target,
    (current) => {
      const pod: Pod & UnstructuredObject = objectOfKind(cloneJson(current));
      pod.metadata.resourceVersion = seen.resourceVersion;
      if (pod.metadata.deletionTimestamp !== undefined) return pod;
      const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget');
      const condition = {
        type: 'DisruptionTarget',
        status: 'True' as const,
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
        lastTransitionTime: toRfc3339(context.clock.now()),
      };
      pod.status = { ...pod.status, conditions: [...others, condition] };
      return pod;
    },
    { subresource: 'status', dryRun, admission: 'done' },
  );
  if (seen.resourceVersion === undefined || dryRun) return seen;
  return { uid: seen.uid, resourceVersion: told.object.metadata.resourceVersion };
}

function isTooMany(error: unknown): boolean {
  return error instanceof StatusError && error.status.code === 429;
}

function isConflict(error: unknown): boolean {
  return error instanceof StatusError && error.status.reason === 'Conflict';
}
