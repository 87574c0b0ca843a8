import type { Kind, ReconcileContext } from '@rollkeeper/runtime';
import { Pod, typeMeta, unlessGone } from '@rollkeeper/runtime';
import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { asSent } from '@rollkeeper/machinery/kubernetes';
import { ControllerRevision } from '../shared/index.js';
import type { AnnotationChanges, DecidedSet } from './decide-set.js';
import { FIELD_MANAGER } from './partition-owner.js';
import type { ReadablePod, SetObject } from './set-view.js';

type Context = Pick<ReconcileContext, 'client' | 'events' | 'signal'>;

type ReadableSet = DeepReadonly<SetObject>;

/** A change of `spec.updateStrategy`. */
export interface StrategyChange {
  /** The fields to apply. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Whether it is written before everything else: it takes the rollout back, or holds it. */
  readonly isFirst: boolean;
}

/** The writes of a pass over a set. */
export interface SetPlan {
  readonly kind: Kind<SetObject>;
  readonly set: ReadableSet;
  readonly revisionChanges: DecidedSet['revisionChanges'];
  readonly setChanges: AnnotationChanges;
  /** The template of a rollback. */
  readonly template?: DeepReadonly<PodTemplateSpec>;
  readonly strategy?: StrategyChange;
  /** The pods to delete, so that they are recreated. */
  readonly replace: readonly ReadablePod[];
  readonly notes: DecidedSet['notes'];
}

/**
 * Makes the writes in an order in which each moment is safe: a strategy that takes the rollout back comes first, and one that
 * lets it go on comes after the notes by which a process that takes over knows how far it may go. Each write of the set names
 * the version that was decided from.
 */
export async function applySetPlan(plan: SetPlan, context: Context): Promise<void> {
  const { set, strategy } = plan;
  let current = set;
  if (strategy?.isFirst) current = await writeStrategy(current, plan.kind, strategy, context);
  await noteRevisions(plan, context);
  current = await writeSet(current, plan, context);
  if (strategy && !strategy.isFirst) await writeStrategy(current, plan.kind, strategy, context);
  for (const pod of plan.replace) await replacePod(set, pod, context);
  for (const note of plan.notes) context.events.record(set, note);
}

/** Server-side apply of the fields alone, so that their owner is known to people and tools. */
async function writeStrategy(
  { metadata }: ReadableSet,
  kind: Kind<SetObject>,
  { fields }: StrategyChange,
  { client, signal }: Context,
): Promise<ReadableSet> {
  const { name, namespace, resourceVersion, uid } = metadata;
  const body = {
    ...typeMeta(kind),
    metadata: { name, namespace, resourceVersion, uid },
    spec: { updateStrategy: fields },
  };
  const options = { fieldManager: FIELD_MANAGER, force: true, signal };
  return client.patch<SetObject>(kind, { name, namespace }, { type: 'apply', body }, options);
}

async function noteRevisions({ revisionChanges }: SetPlan, { client, signal }: Context): Promise<void> {
  for (const { changes, revision } of revisionChanges) {
    const { name, namespace, resourceVersion, uid } = revision.metadata;
    const body = { metadata: { resourceVersion, uid, annotations: withNulls(changes) } };
    await client.patch(ControllerRevision, { name, namespace }, { type: 'merge', body }, { signal });
  }
}

async function writeSet(
  set: ReadableSet,
  { kind, setChanges, template }: SetPlan,
  { client, signal }: Context,
): Promise<ReadableSet> {
  const { annotations, name, namespace, resourceVersion, uid } = set.metadata;
  const changes = Object.entries(setChanges);
  if (changes.length === 0 && !template) return set;
  if (!template) {
    const body = { metadata: { resourceVersion, uid, annotations: withNulls(setChanges) } };
    return client.patch<SetObject>(kind, { name, namespace }, { type: 'merge', body }, { signal });
  }
  const kept = Object.entries({ ...annotations, ...setChanges }).filter(([, value]) => value !== undefined);
  const wanted = {
    ...set,
    metadata: { ...set.metadata, annotations: Object.fromEntries(kept) as Record<string, string> },
    spec: { ...set.spec, template },
  };
  return client.update<SetObject>(kind, asSent<SetObject>(wanted), { signal });
}

function withNulls(changes: AnnotationChanges): Record<string, string | null> {
  return Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value ?? null]));
}

async function replacePod(set: ReadableSet, { metadata }: ReadablePod, context: Context): Promise<void> {
  const { name, namespace, uid = '' } = metadata;
  const { client, events, signal } = context;
  await unlessGone(client.delete(Pod, { name, namespace }, { preconditions: { uid }, signal }));
  const message = `Deleted pod ${name}, so that it is recreated from the revision that runs`;
  events.record(set, { type: 'Normal', reason: 'PodReplaced', message });
}
