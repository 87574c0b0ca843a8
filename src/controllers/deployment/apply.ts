import type { ApiClient, EventRecorder } from '@rollkeeper/runtime';
import {
  PodDisruptionBudget,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
} from '@rollkeeper/runtime';
import { NameTakenError, errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Deployment, DeploymentCondition } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet, Service, asSent, controllerOf, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { REVISION } from './kubernetes/annotations.js';
import { newCondition, withCondition } from './kubernetes/conditions.js';
import type { RolloutRules } from './kubernetes/rollout-rules.js';
import { createErrorMessage, createErrorNote } from './kubernetes/events.js';
import { isCustomDeployment, typeOfDeployment } from './kubernetes/deployment-api.js';
import { POD_TEMPLATE_HASH } from '../shared/index.js';
import { equalIgnoringHash } from './kubernetes/pod-template.js';
import type { DeploymentPlan } from './pass-plan.js';
import type { ReplicaSetWrite } from './kubernetes/plan.js';
import { SIZES } from './policies/history/settings.js';
import { hasProgressDeadline } from './kubernetes/progress.js';
import { REPLICA_SET_CREATE_ERROR } from './kubernetes/reasons.js';
import { resizePods } from './policies/resize/resize-pods.js';
import { writeExperiment } from './policies/experiment/write-experiment.js';
import { writeCopies } from './policies/config-restart/write-copies.js';
import { steerRoute } from './policies/traffic/write-route.js';
import { writeService } from './policies/blue-green/write-service.js';

interface ApplyContext {
  readonly client: ApiClient;
  readonly signal: AbortSignal;
  readonly events: EventRecorder;
  readonly rules: Pick<RolloutRules, 'collisionsTold'>;
  /** RFC 3339. */
  readonly now: string;
}

/**
 * `collision`: the name of the new ReplicaSet is taken; the Deployment's collision count was increased, so start again.
 */
type ApplyOutcome = 'done' | 'collision';

/**
 * Executes a plan in order, and stops at the first failed write: the limits hold at every point, and the next pass decides
 * again. Every update names the version that it replaces.
 */
export async function applyPlan(
  deployment: DeepReadonly<Deployment>,
  plan: DeploymentPlan,
  context: ApplyContext,
): Promise<ApplyOutcome> {
  const latest = new Map<string, ReplicaSet | undefined>();
  for (const write of plan.routeWrites) if (write.isFirst) await steerRoute(deployment, write, context);
  for (const budget of plan.budgetWrites)
    await context.client.update(PodDisruptionBudget, budget, {
      subresource: 'status',
      signal: context.signal,
    });
  if (plan.copies.length > 0) await writeCopies(deployment, plan.copies, context);
  for (const write of plan.replicaSetWrites) {
    const { name } = write.object.metadata;
    // An existing ReplicaSet has its own size: the next pass knows it.
    if (write.verb === 'resize' && !latest.get(name)) continue;
    const outcome = await applyReplicaSetWrite(deployment, write, latest.get(name), context);
    if (outcome === 'collision') return outcome;
    if (outcome === 'there already') continue;
    latest.set(name, outcome.written);
    if (write.note) context.events.record(deployment, write.note);
  }
  for (const service of plan.madeServices)
    await context.client.create(Service, service, { signal: context.signal });
  for (const write of plan.serviceWrites) await writeService(write, context);
  for (const write of plan.routeWrites) if (!write.isFirst) await steerRoute(deployment, write, context);
  let current: DeepReadonly<Deployment> = deployment;
  if (plan.deployment) {
    const { client, signal } = context;
    current = await client.update(typeOfDeployment(deployment), asSent<Deployment>(plan.deployment), {
      signal,
    });
  }
  for (const note of plan.notes) context.events.record(deployment, note);
  if (plan.status) await updateStatus(current, plan.status, context);
  if (plan.podResizes.length > 0) await resizePods(deployment, plan.podResizes, context);
  for (const write of plan.experimentWrites) await writeExperiment(deployment, write, context);
  return 'done';
}

type ReplicaSetOutcome = { readonly written?: ReplicaSet } | 'there already' | 'collision';

/** @param latest this pass's previous write of the ReplicaSet */
async function applyReplicaSetWrite(
  deployment: DeepReadonly<Deployment>,
  { object, verb }: ReplicaSetWrite,
  latest: ReplicaSet | undefined,
  context: ApplyContext,
): Promise<ReplicaSetOutcome> {
  const { client, signal } = context;
  if (verb === 'create') return createReplicaSet(deployment, object, context);
  if (verb === 'delete') {
    await deleteReplicaSet(object, context);
    return {};
  }
  const wanted = verb === 'resize' && latest ? resized(latest, object) : asSent<ReplicaSet>(object);
  return { written: await updateReplicaSet(client, wanted, signal) };
}

/** Everything but the size, and what is noted of it, was written before. */
function resized(latest: ReplicaSet, { metadata, spec }: DeepReadonly<ReplicaSet>): ReplicaSet {
  const note = metadata.annotations?.[SIZES];
  const noted = note === undefined ? {} : { annotations: { ...latest.metadata.annotations, [SIZES]: note } };
  return {
    ...latest,
    metadata: { ...latest.metadata, ...noted },
    spec: { ...latest.spec, replicas: spec.replicas },
  };
}

/** With a precondition: one that was scaled up in the meantime is kept. */
async function deleteReplicaSet(
  replicaSet: DeepReadonly<ReplicaSet>,
  { client, signal }: ApplyContext,
): Promise<void> {
  const { uid, resourceVersion } = replicaSet.metadata;
  const preconditions = { uid, resourceVersion };
  try {
    await client.delete(ReplicaSet, replicaSet.metadata, { preconditions, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function createReplicaSet(
  deployment: DeepReadonly<Deployment>,
  replicaSet: DeepReadonly<ReplicaSet>,
  context: ApplyContext,
): Promise<ReplicaSetOutcome> {
  const { client, signal } = context;
  try {
    return { written: await client.create(ReplicaSet, asSent<ReplicaSet>(replicaSet), { signal }) };
  } catch (error) {
    if (isAlreadyExists(error)) return resolveCollision(deployment, replicaSet, context);
    if (!isNamespaceTerminating(error)) await reportCreateError(deployment, replicaSet, error, context);
    throw error;
  }
}

/**
 * Ours with the same template: an earlier pass got this far. Another one: use another hash, by increasing the collision
 * count.
 */
async function resolveCollision(
  deployment: DeepReadonly<Deployment>,
  wanted: DeepReadonly<ReplicaSet>,
  context: ApplyContext,
): Promise<ReplicaSetOutcome> {
  const { client, signal } = context;
  const existing = await client.get<ReplicaSet>(ReplicaSet, wanted.metadata, { signal });
  const isOurs = controllerOf(existing)?.uid === deployment.metadata.uid;
  const hasSameHash =
    existing.metadata.labels?.[POD_TEMPLATE_HASH] === wanted.metadata.labels?.[POD_TEMPLATE_HASH];
  const isSame =
    equalIgnoringHash(existing.spec.template ?? {}, deployment.spec.template) ||
    (isCustomDeployment(deployment) && hasSameHash);
  if (isOurs && isSame) return 'there already';
  return countCollision(deployment, wanted, context);
}

/**
 * One collision in a Deployment's life is an accident and not reported. At the next one, another client keeps taking
 * its names: that is reported as a failure, so that retries become rarer and end; immediate retries would count
 * collisions as fast as the API server answers.
 * @throws NameTakenError once another one has been counted
 */
async function countCollision(
  deployment: DeepReadonly<Deployment>,
  wanted: DeepReadonly<ReplicaSet>,
  { client, signal, events, now, rules }: ApplyContext,
): Promise<'collision'> {
  const { name } = wanted.metadata;
  const before = deployment.status?.collisionCount ?? 0;
  const isQuiet = before === 0 || !rules.collisionsTold;
  const error = new NameTakenError(`a ReplicaSet "${name}" that is not its own has the name`);
  const isTold = !isQuiet && hasProgressDeadline(deployment.spec);
  const status = {
    ...deployment.status,
    ...(isTold ? { conditions: createErrorConditions(deployment, name, error, now) } : {}),
    collisionCount: before + 1,
  };
  await client.update(typeOfDeployment(deployment), asSent<Deployment>({ ...deployment, status }), {
    subresource: 'status',
    signal,
  });
  if (isQuiet) return 'collision';
  events.record(deployment, createErrorNote(name, error.message));
  throw error;
}

/** Best effort: the pass fails with the error of the creation, even if reporting fails too. */
async function reportCreateError(
  deployment: DeepReadonly<Deployment>,
  replicaSet: DeepReadonly<ReplicaSet>,
  error: unknown,
  context: ApplyContext,
): Promise<void> {
  const { client, signal, events, now } = context;
  const { name } = replicaSet.metadata;
  if (signal.aborted) return;
  events.record(deployment, createErrorNote(name, errorMessage(error)));
  if (!hasProgressDeadline(deployment.spec)) return;
  const before = deployment.status?.conditions;
  const conditions = createErrorConditions(deployment, name, error, now);
  if (conditions.length === before?.length && conditions.every((condition) => before.includes(condition)))
    return;
  const object = asSent<Deployment>({ ...deployment, status: { ...deployment.status, conditions } });
  await client
    .update(typeOfDeployment(deployment), object, { subresource: 'status', signal })
    .catch(() => undefined);
}

function createErrorConditions(
  deployment: DeepReadonly<Deployment>,
  replicaSet: string,
  error: unknown,
  now: string,
): DeploymentCondition[] {
  const message = createErrorMessage(replicaSet, errorMessage(error));
  const fields = { status: 'False', reason: REPLICA_SET_CREATE_ERROR, message } as const;
  return withCondition(deployment.status?.conditions, newCondition('Progressing', fields, now));
}

/**
 * Writes the status, and the revision annotation in the same request: Kubernetes allows a Deployment's status write to
 * change annotations. For a server that does not, a second request follows.
 */
async function updateStatus(
  current: DeepReadonly<Deployment>,
  wanted: DeepReadonly<Deployment>,
  { client, signal }: ApplyContext,
): Promise<void> {
  const { resourceVersion } = current.metadata;
  const object = asSent<Deployment>({ ...wanted, metadata: { ...wanted.metadata, resourceVersion } });
  const written = await client.update<Deployment>(typeOfDeployment(wanted), object, {
    subresource: 'status',
    signal,
  });
  const revision = wanted.metadata.annotations?.[REVISION];
  if (revision === undefined || written.metadata.annotations?.[REVISION] === revision) return;
  const annotations = { ...written.metadata.annotations, [REVISION]: revision };
  await client.update(
    typeOfDeployment(wanted),
    { ...written, metadata: { ...written.metadata, annotations } },
    { signal },
  );
}

/**
 * Writes a ReplicaSet as decided. Its own controller writes its status all the time, which would make every other write
 * conflict; if only the status has changed, and not for the worse, the decision is still valid and is written on top.
 * Any other change is a conflict as usual.
 */
export async function updateReplicaSet(
  client: ApiClient,
  wanted: ReplicaSet,
  signal: AbortSignal,
): Promise<ReplicaSet> {
  try {
    return await client.update(ReplicaSet, wanted, { signal });
  } catch (error) {
    if (!isConflict(error)) throw error;
    const live = await client.get<ReplicaSet>(ReplicaSet, wanted.metadata, { signal });
    if (!stillStands(wanted, live)) throw error;
    return client.update(ReplicaSet, onTopOf(wanted, live), { signal });
  }
}

/** @param wanted carries the status that the decision was based on, and the generation that it replaces */
function stillStands(wanted: ReplicaSet, live: ReplicaSet): boolean {
  const { generation, labels, ownerReferences, uid } = wanted.metadata;
  return (
    live.metadata.uid === uid &&
    live.metadata.generation === generation &&
    live.metadata.deletionTimestamp === undefined &&
    semanticEqual(live.metadata.labels, labels) &&
    semanticEqual(live.metadata.ownerReferences, ownerReferences) &&
    (live.status?.availableReplicas ?? 0) >= (wanted.status?.availableReplicas ?? 0)
  );
}

function onTopOf(wanted: ReplicaSet, live: ReplicaSet): ReplicaSet {
  const annotations = { ...live.metadata.annotations, ...wanted.metadata.annotations };
  const { resourceVersion } = live.metadata;
  return { ...wanted, status: live.status, metadata: { ...wanted.metadata, annotations, resourceVersion } };
}
