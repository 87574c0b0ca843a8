import type { EventNote } from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet, apiVersionOf, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { REVISION } from './annotations.js';
import type { RolloutDraft, SizeStep } from './draft.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import type { SizeNotes } from './rollout-limits.js';
import { scaledNote } from './events.js';

/** A write to one ReplicaSet, and the event recorded after it. */
export interface ReplicaSetWrite {
  /** `resize`: changes only the size and what is noted of it, after an earlier write of the plan to the same ReplicaSet. */
  readonly verb: 'update' | 'create' | 'delete' | 'resize';
  /** Its state after the write. */
  readonly object: DeepReadonly<ReplicaSet>;
  readonly note?: EventNote;
}

/** The writes to a Deployment and its ReplicaSets that a draft comes to. */
export interface RolloutPlan {
  /** In the required order. */
  readonly replicaSetWrites: readonly ReplicaSetWrite[];
  /** A write to the Deployment itself: the result of a rollback. */
  readonly deployment?: DeepReadonly<Deployment>;
  /** Events about it. */
  readonly notes: readonly EventNote[];
  /** Written to the status subresource, including the revision annotation. */
  readonly status?: DeepReadonly<Deployment>;
}

/**
 * Compares the draft with the observed state. Sizes are written in the order of the deciding steps, so that each
 * intermediate size is visible, and each moment is one that a step found within the limits.
 *
 * If the steps take a ReplicaSet up and down again, or down and up, the pods in between would be created only to be
 * deleted. Then each ReplicaSet is written once: shrinking ones first, then unchanged ones, then growing ones.
 * Shrinking first cannot break the floor, because it does not count pods that are added in the same pass; growing last
 * cannot break the ceiling, because the room exists by then.
 */
export function netPlan(draft: RolloutDraft, released: readonly DeepReadonly<ReplicaSet>[]): RolloutPlan {
  const deployment = draftedDeployment(draft);
  const { namespace } = draft.observed.metadata;
  const needsOwnWrite = draft.spec !== draft.observed.spec || otherAnnotationsDiffer(draft);
  return {
    replicaSetWrites: [
      ...released.map((replicaSet) => releaseWrite(replicaSet, draft.observed.metadata.uid)),
      ...replicaSetWrites(draft, namespace),
    ],
    deployment: needsOwnWrite ? deployment : undefined,
    notes: draft.notes,
    status: statusDiffers(draft, { revisionWritten: needsOwnWrite }) ? deployment : undefined,
  };
}

function draftedDeployment(draft: RolloutDraft): DeepReadonly<Deployment> {
  const { observed, annotations, spec, status } = draft;
  return { ...observed, metadata: { ...observed.metadata, annotations }, spec, status };
}

function otherAnnotationsDiffer(draft: RolloutDraft): boolean {
  const { [REVISION]: _before, ...before } = draft.observed.metadata.annotations ?? {};
  const { [REVISION]: _after, ...after } = draft.annotations;
  return !semanticEqual(before, after);
}

function statusDiffers(draft: RolloutDraft, options: { revisionWritten: boolean }): boolean {
  if (!semanticEqual(draft.status, draft.observed.status)) return true;
  if (options.revisionWritten) return false;
  return draft.annotations[REVISION] !== draft.observed.metadata.annotations?.[REVISION];
}

function replicaSetWrites(draft: RolloutDraft, namespace: string | undefined): ReplicaSetWrite[] {
  const steps = draft.sizeSteps.filter(({ replicaSet }) => !replicaSet.deleted);
  const sizes = goesOneWay(steps) ? steps : netSteps(steps);
  const resized = new Set(sizes.map(({ replicaSet }) => replicaSet));
  const others = draft.replicaSets.filter((replicaSet) => !resized.has(replicaSet));
  return [
    ...others.flatMap((set) => (set.deleted ? [] : annotation(set))),
    ...sizeWrites(sizes, namespace, draft.limits.sizeNotes),
    ...others.flatMap(({ deleted, observed }) => (deleted && observed ? [deletion(observed)] : [])),
  ];
}

function goesOneWay(steps: readonly SizeStep[]): boolean {
  const ups = new Set(steps.flatMap(({ from, replicaSet, to }) => (to > from ? [replicaSet] : [])));
  return steps.every(({ from, replicaSet, to }) => to >= from || !ups.has(replicaSet));
}

/** The net change of each ReplicaSet, shrinking ones first. */
function netSteps(steps: readonly SizeStep[]): SizeStep[] {
  const net = new Map<ReplicaSetDraft, SizeStep>();
  for (const { from, replicaSet, to } of steps)
    net.set(replicaSet, { replicaSet, from: net.get(replicaSet)?.from ?? from, to });
  const changed = [...net.values()].filter(({ from, replicaSet, to }) => from !== to || !replicaSet.observed);
  return changed.sort((a, b) => Number(a.to > a.from) - Number(b.to > b.from));
}

/** The first write of a ReplicaSet includes all its other changes. */
function sizeWrites(
  steps: readonly SizeStep[],
  namespace: string | undefined,
  sizeNotes: SizeNotes | undefined,
): ReplicaSetWrite[] {
  const begun = new Set<ReplicaSetDraft>();
  const noted = sizeNotes && notesOf(steps, sizeNotes);
  return steps.map((step) => {
    const { from, replicaSet, to } = step;
    const { observed } = replicaSet;
    const annotations = { ...replicaSet.annotations, ...noted?.get(step) };
    const sized = { ...replicaSet, annotations, replicas: to };
    const object = observed ? updated(sized, observed) : created(sized, namespace);
    const verb = begun.has(replicaSet) ? 'resize' : observed ? 'update' : 'create';
    begun.add(replicaSet);
    return { verb, object, note: from === to ? undefined : scaledNote(replicaSet.name, from, to) };
  });
}

/** The notes of each write of ReplicaSets that are written several times, about its own size. */
function notesOf(
  steps: readonly SizeStep[],
  { annotation, ofWrites }: SizeNotes,
): ReadonlyMap<SizeStep, Record<string, string>> {
  const bySet = Map.groupBy(steps, ({ replicaSet }) => replicaSet);
  const noted = [...bySet].flatMap(([replicaSet, own]) => {
    const notes = own.length > 1 ? ofWrites(replicaSet, own) : undefined;
    return (notes ?? []).flatMap((note, index) => {
      const step = own[index];
      return step ? [[step, { [annotation]: note }] as const] : [];
    });
  });
  return new Map(noted);
}

/** For one that keeps its size. */
function annotation(draft: ReplicaSetDraft): ReplicaSetWrite[] {
  const { observed } = draft;
  if (!observed || !differs(draft, observed)) return [];
  return [{ verb: 'update', object: updated(draft, observed) }];
}

function deletion(observed: DeepReadonly<ReplicaSet>): ReplicaSetWrite {
  return { verb: 'delete', object: observed };
}

function differs(draft: ReplicaSetDraft, observed: DeepReadonly<ReplicaSet>): boolean {
  return (
    hasOtherTemplate(draft, observed) ||
    draft.minReadySeconds !== (observed.spec.minReadySeconds ?? 0) ||
    !semanticEqual(draft.annotations, observed.metadata.annotations) ||
    !semanticEqual(draft.ownerReferences, observed.metadata.ownerReferences)
  );
}

function hasOtherTemplate({ template }: ReplicaSetDraft, { spec }: DeepReadonly<ReplicaSet>): boolean {
  return spec.template !== undefined && template !== spec.template;
}

function updated(draft: ReplicaSetDraft, observed: DeepReadonly<ReplicaSet>): DeepReadonly<ReplicaSet> {
  const { annotations, ownerReferences, replicas, minReadySeconds } = draft;
  const metadata = { ...observed.metadata, annotations, ownerReferences };
  const { minReadySeconds: _before, ...spec } = observed.spec;
  const seconds = minReadySeconds === 0 ? {} : { minReadySeconds };
  const template = hasOtherTemplate(draft, observed) ? { template: draft.template } : {};
  return { ...observed, metadata, spec: { ...spec, ...seconds, ...template, replicas } };
}

function created(draft: ReplicaSetDraft, namespace: string | undefined): DeepReadonly<ReplicaSet> {
  const { name, labels, annotations, ownerReferences, selector, template, replicas, minReadySeconds } = draft;
  const seconds = minReadySeconds === 0 ? {} : { minReadySeconds };
  return {
    apiVersion: apiVersionOf(ReplicaSet),
    kind: ReplicaSet.kind,
    metadata: { name, namespace, labels, annotations, ownerReferences: ownerReferences.slice(0, 1) },
    spec: { replicas, ...seconds, selector, template },
  };
}

/** Removes our reference from one that the selector no longer matches. */
function releaseWrite(replicaSet: DeepReadonly<ReplicaSet>, uid: string | undefined): ReplicaSetWrite {
  const references = (replicaSet.metadata.ownerReferences ?? []).filter((reference) => reference.uid !== uid);
  const metadata = { ...replicaSet.metadata, ownerReferences: references };
  return { verb: 'update', object: { ...replicaSet, metadata } };
}
