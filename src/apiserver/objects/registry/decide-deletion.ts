import { LAST_RFC3339_MS, toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DecodedObject, Int64, Namespace, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { cloneJson, toDouble } from '@rollkeeper/machinery/kubernetes';
import type { KindDefinition } from '../../kinds/index.js';

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

/** `metav1.DeleteOptions` as far as it decides anything. */
export interface DeletionRequest {
  readonly gracePeriodSeconds?: Int64;
  readonly propagationPolicy?: PropagationPolicy;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** The effect of a deletion: nothing new, a mark on the object, or its removal. */
type DeletionPlan =
  | { readonly action: 'keep' }
  | { readonly action: 'mark'; readonly object: UnstructuredObject }
  | { readonly action: 'remove'; readonly object: UnstructuredObject };

/**
 * Decides what a deletion does to an object now. Finalizers and grace keep it, marked; a second deletion may only
 * shorten the grace (apiserver's `rest.BeforeDelete` and the finalizer part of its generic registry store).
 */
export function decideDeletion(
  object: Readonly<UnstructuredObject>,
  kind: KindDefinition,
  request: DeletionRequest,
  nowMs: number,
): DeletionPlan {
  const marked = changeable(object, kind);
  const changedFinalizers = applyPropagation(marked, kind, request.propagationPolicy);
  const changedMark = applyMark(marked, kind, request, nowMs);
  const changedPhase = applyTerminatingPhase(marked);
  if (isReadyToGo(marked))
    return { action: 'remove', object: isGraceful(kind) ? marked : unmarked(marked, object) };
  if (!changedFinalizers && !changedMark && !changedPhase) return { action: 'keep' };
  return { action: 'mark', object: marked };
}

/** Only pods end gracefully, and namespaces when they are empty. */
function isGraceful({ type: { kind } }: KindDefinition): boolean {
  return kind === 'Pod' || kind === 'Namespace';
}

/** An object that goes at once is not marked before. */
function unmarked(object: UnstructuredObject, before: Readonly<UnstructuredObject>): UnstructuredObject {
  if (before.metadata.deletionTimestamp !== undefined) return object;
  const { deletionTimestamp: _at, deletionGracePeriodSeconds: _in, ...metadata } = object.metadata;
  const { generation } = before.metadata;
  return { ...object, metadata: { ...metadata, ...(generation !== undefined && { generation }) } };
}

/** A copy of what a deletion changes, which is the metadata unless the kind has more to say. */
function changeable(object: Readonly<UnstructuredObject>, kind: KindDefinition): UnstructuredObject {
  if (kind.prepareForDelete) return cloneJson(object);
  return { ...object, metadata: { ...object.metadata } };
}

/**
 * Puts the finalizer that the garbage collector waits for; without a wish, what is there stays. Of a kind that it does not
 * look after, its finalizers go (`deletionFinalizersForGarbageCollection` in apiserver's generic registry store).
 */
function applyPropagation(
  object: UnstructuredObject,
  { garbageCollection, orphansByDefault }: KindDefinition,
  policy: PropagationPolicy | undefined,
): boolean {
  const before = object.metadata.finalizers ?? [];
  const isDecided = before.includes('orphan') || before.includes('foregroundDeletion');
  const usual = orphansByDefault && !isDecided ? 'Orphan' : undefined;
  const effective = garbageCollection === 'unsupported' ? 'Background' : (policy ?? usual);
  if (effective === undefined) return false;
  const wanted = { Background: undefined, Foreground: 'foregroundDeletion', Orphan: 'orphan' }[effective];
  const after = before.filter(
    (name) => name === wanted || (name !== 'orphan' && name !== 'foregroundDeletion'),
  );
  if (wanted !== undefined && !after.includes(wanted)) after.push(wanted);
  if (after.length === before.length && after.every((name, index) => name === before[index])) return false;
  if (after.length > 0) object.metadata.finalizers = after;
  else delete object.metadata.finalizers;
  return true;
}

function applyMark(
  object: UnstructuredObject,
  kind: KindDefinition,
  request: DeletionRequest,
  nowMs: number,
): boolean {
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined) {
    const grace = kind.gracefulDeletion(object, request.gracePeriodSeconds).gracePeriodSeconds;
    metadata.deletionTimestamp = toRfc3339(nowMs + toDouble(grace) * 1000);
    if (isMarkedWhole(kind)) {
      metadata.deletionGracePeriodSeconds = grace;
      if (metadata.generation) metadata.generation++;
    }
    kind.prepareForDelete?.(object, nowMs);
    return true;
  }
  const left = metadata.deletionGracePeriodSeconds ?? 0;
  const asked = request.gracePeriodSeconds;
  if (asked === undefined || asked >= left) return false;
  const endsAt = Date.parse(metadata.deletionTimestamp);
  // A grace period beyond the last year of RFC 3339 does not show when it began.
  const deletedAt = endsAt < LAST_RFC3339_MS ? endsAt - toDouble(left) * 1000 : nowMs;
  metadata.deletionTimestamp = toRfc3339(deletedAt + toDouble(asked) * 1000);
  metadata.deletionGracePeriodSeconds = asked;
  return true;
}

/** Namespaces and definitions are marked by their own code, which says less. */
function isMarkedWhole({ type: { kind } }: KindDefinition): boolean {
  return kind !== 'Namespace' && kind !== 'CustomResourceDefinition';
}

function applyTerminatingPhase(object: UnstructuredObject): boolean {
  if (object.kind !== 'Namespace') return false;
  const { status }: DecodedObject<Namespace> = object;
  if (status?.phase === 'Terminating') return false;
  object.status = { ...status, phase: 'Terminating' };
  return true;
}

/** Whether nothing keeps a deleted object any longer. */
export function isReadyToGo(object: Readonly<UnstructuredObject>): boolean {
  const { metadata } = object;
  if (!metadata.deletionTimestamp || (metadata.finalizers ?? []).length > 0) return false;
  if ((metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  const { spec }: DecodedObject<Namespace> = object;
  return object.kind !== 'Namespace' || (spec?.finalizers ?? []).length === 0;
}
