import type { EventNote } from '../../kit/index.js';
import type { DeepReadonly, Deployment, OwnerReference, ReplicaSet } from '../../base/kubernetes/index.js';
import { apiVersionOf, REPLICA_SETS, semanticEqual } from '../../base/kubernetes/index.js';
import { REVISION } from './annotations.js';
import type { ReplicaSetDraft, RolloutDraft } from './draft.js';
import { scaledNote } from './events.js';

/** A write to one ReplicaSet, and the event that tells of it once it is done. */
export interface ReplicaSetWrite {
  readonly verb: 'update' | 'create' | 'delete';
  readonly object: ReplicaSet;
  readonly note?: EventNote;
}

/** The net outcome of a pass as the fewest writes that bring it about. */
export interface DeploymentPlan {
  /** In the order in which they must happen. */
  readonly replicaSetWrites: readonly ReplicaSetWrite[];
  /** Written to the Deployment itself: a rollback's outcome. */
  readonly deployment?: Deployment;
  /** Events that tell of it. */
  readonly notes: readonly EventNote[];
  /** Written to the status subresource, the revision annotation included. */
  readonly status?: Deployment;
}

/**
 * Compares the draft with what was observed. The order keeps every instant within the limits: what goes down first,
 * then what keeps its size, then what comes up or is created. Down first cannot break the floor, because the floor
 * counts nothing that comes up in the same pass; up last cannot break the ceiling, because the room is there by then.
 */
export function netPlan(draft: RolloutDraft, released: readonly DeepReadonly<ReplicaSet>[]): DeploymentPlan {
  const deployment = draftedDeployment(draft);
  const { namespace } = draft.observed.metadata;
  const needsOwnWrite = draft.spec !== draft.observed.spec || otherAnnotationsDiffer(draft);
  return {
    replicaSetWrites: [
      ...released.map((replicaSet) => releaseWrite(replicaSet, draft.observed.metadata.uid)),
      ...draft.replicaSets.flatMap((set) => replicaSetWrite(set, namespace)).sort((a, b) => a.rank - b.rank),
    ],
    deployment: needsOwnWrite ? deployment : undefined,
    notes: draft.notes,
    status: statusDiffers(draft, { revisionWritten: needsOwnWrite }) ? deployment : undefined,
  };
}

/** Whether nothing is to be done, and nothing to be told. */
export function isEmptyPlan({ deployment, notes, replicaSetWrites, status }: DeploymentPlan): boolean {
  return replicaSetWrites.length === 0 && notes.length === 0 && !deployment && !status;
}

function draftedDeployment(draft: RolloutDraft): Deployment {
  const { observed, annotations, spec, status } = draft;
  return { ...observed, metadata: { ...observed.metadata, annotations }, spec, status } as Deployment;
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

interface RankedWrite extends ReplicaSetWrite {
  readonly rank: number;
}

function replicaSetWrite(draft: ReplicaSetDraft, namespace: string | undefined): RankedWrite[] {
  const { observed } = draft;
  if (!observed) return draft.deleted ? [] : [creation(draft, namespace)];
  if (draft.deleted) return [{ verb: 'delete', object: observed as ReplicaSet, rank: 4 }];
  if (!differs(draft, observed)) return [];
  const before = observed.spec.replicas ?? 1;
  const rank = draft.replicas < before ? 1 : draft.replicas === before ? 2 : 3;
  const note = draft.replicas === before ? undefined : scaledNote(draft.name, before, draft.replicas);
  return [{ verb: 'update', object: updated(draft, observed), note, rank }];
}

function differs(draft: ReplicaSetDraft, observed: DeepReadonly<ReplicaSet>): boolean {
  return (
    draft.replicas !== (observed.spec.replicas ?? 1) ||
    draft.minReadySeconds !== (observed.spec.minReadySeconds ?? 0) ||
    !semanticEqual(draft.annotations, observed.metadata.annotations) ||
    !semanticEqual(draft.ownerReferences, observed.metadata.ownerReferences)
  );
}

function updated(draft: ReplicaSetDraft, observed: DeepReadonly<ReplicaSet>): ReplicaSet {
  const { annotations, ownerReferences, replicas, minReadySeconds } = draft;
  const metadata = { ...observed.metadata, annotations, ownerReferences };
  const { minReadySeconds: _before, ...spec } = observed.spec;
  const seconds = minReadySeconds === 0 ? {} : { minReadySeconds };
  return { ...observed, metadata, spec: { ...spec, ...seconds, replicas } } as ReplicaSet;
}

function creation(draft: ReplicaSetDraft, namespace: string | undefined): RankedWrite {
  const { name, labels, annotations, ownerReferences, selector, template, replicas, minReadySeconds } = draft;
  const [owner] = ownerReferences as OwnerReference[];
  const seconds = minReadySeconds === 0 ? {} : { minReadySeconds };
  const object = {
    apiVersion: apiVersionOf(REPLICA_SETS),
    kind: REPLICA_SETS.kind,
    metadata: { name, namespace, labels, annotations, ownerReferences: [owner] },
    spec: { replicas, ...seconds, selector, template },
  } as ReplicaSet;
  return { verb: 'create', object, note: replicas > 0 ? scaledNote(name, 0, replicas) : undefined, rank: 3 };
}

/** Takes our reference off one that the selector selects no longer. */
function releaseWrite(replicaSet: DeepReadonly<ReplicaSet>, uid: string | undefined): ReplicaSetWrite {
  const references = (replicaSet.metadata.ownerReferences ?? []).filter((reference) => reference.uid !== uid);
  const metadata = { ...replicaSet.metadata, ownerReferences: references };
  return { verb: 'update', object: { ...replicaSet, metadata } as ReplicaSet };
}
