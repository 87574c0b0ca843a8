import type { ApiClient, EventRecorder } from '@rollkeeper/runtime';
import { isForbidden, isNotFound, isObjectNotFound } from '@rollkeeper/runtime';
import type {
  DeepReadonly,
  KubernetesObject,
  OwnerReference,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import type { AbsentOwners } from './absent-owners.js';
import type { ClassifiedOwner, OwnerState } from './decide-collection.js';
import type { DependencyGraph } from './dependency-graph.js';
import { ownerRef } from './dependency-graph.js';
import { isDeletingDependents } from './item-key.js';
import type { ResourceMonitors } from './resource-monitors.js';

type Item = DeepReadonly<KubernetesObject>;

export interface OwnerSources {
  readonly graph: DependencyGraph;
  readonly absent: AbsentOwners;
  readonly monitors: Pick<ResourceMonitors, 'isFillingFor' | 'isFollowed' | 'seesPart' | 'typeOf'>;
  readonly events: EventRecorder;
}

export interface OwnerClassification {
  readonly owners: readonly ClassifiedOwner[];
  /**
   * An owner's kind is unknown or unreadable, or its scope is impossible: no conclusion about the object is possible.
   */
  readonly undecidable: boolean;
  /** An owner is of a type without a watch, so it has to be checked again. */
  readonly unmonitored: boolean;
}

/**
 * Classifies the owners of `object`. The cache is trusted if it shows an owner under its UID; absence is only trusted
 * from a deletion seen by an informer, or from the server. Source: `classifyReferences` and `isDangling` in k/k
 * pkg/controller/garbagecollector/garbagecollector.go.
 */
export async function classifyOwners(
  object: Item,
  sources: OwnerSources,
  client: ApiClient,
  signal: AbortSignal,
): Promise<OwnerClassification> {
  const owners: ClassifiedOwner[] = [];
  let undecidable = false;
  let unmonitored = false;
  for (const reference of object.metadata.ownerReferences ?? []) {
    const type = sources.monitors.typeOf(reference);
    if (type && hasImpossibleScope(object, reference, type, sources.events)) {
      undecidable = true;
      continue;
    }
    if (sources.absent.has(reference, object.metadata.namespace)) {
      reportIfElsewhere(object, reference, sources);
      owners.push({ reference, state: 'dangling' });
      continue;
    }
    unmonitored ||= !type || !sources.monitors.isFollowed(type);
    const state = type && (await stateOfOwner({ object, reference, type }, sources, client, signal));
    if (state) owners.push({ reference, state });
    else undecidable = true;
  }
  return { owners, undecidable, unmonitored };
}

interface Question {
  readonly object: Item;
  readonly reference: DeepReadonly<OwnerReference>;
  readonly type: ResourceType;
}

/** Undefined if unknown: the owner's type may not be read, or is no longer served. */
async function stateOfOwner(
  question: Question,
  sources: OwnerSources,
  client: ApiClient,
  signal: AbortSignal,
): Promise<OwnerState | undefined> {
  const { object, reference, type } = question;
  const { namespace } = object.metadata;
  const cached = sources.graph.ownerOf(reference, namespace);
  if (cached) return stateOf(cached.object);
  try {
    const ref = ownerRef(reference, type, namespace);
    const live = await client.get(type, ref, { signal, metadataOnly: true });
    if (live.metadata.uid === reference.uid) return stateOf(live);
  } catch (error) {
    if (isForbidden(error)) return undefined;
    if (!isNotFound(error)) throw error;
    // A missing path says nothing about the object: its type may have been removed, and may come back.
    if (!isObjectNotFound(error)) return undefined;
  }
  sources.absent.addVerified(reference, namespace);
  reportIfElsewhere(object, reference, sources);
  return 'dangling';
}

/** Every dependent gets the Event, also those whose owner is known to be absent because of another one. */
function reportIfElsewhere(
  object: Item,
  reference: DeepReadonly<OwnerReference>,
  { events, graph }: OwnerSources,
): void {
  const elsewhere = graph.findByUid(reference.uid)?.object.metadata.namespace;
  if (elsewhere !== object.metadata.namespace && elsewhere !== undefined)
    reportInvalidNamespace(object, reference, events);
}

function stateOf(owner: Item): OwnerState {
  return isDeletingDependents(owner) ? 'waiting' : 'solid';
}

/** A cluster-scoped object cannot have a namespaced owner, which would be ambiguous. It is left alone. */
function hasImpossibleScope(
  object: Item,
  reference: DeepReadonly<OwnerReference>,
  type: ResourceType,
  events: EventRecorder,
): boolean {
  if (object.metadata.namespace !== undefined || !type.namespaced) return false;
  reportInvalidNamespace(object, reference, events);
  return true;
}

/** Source: `reportInvalidNamespaceOwnerRef` in k/k pkg/controller/garbagecollector/graph_builder.go. */
function reportInvalidNamespace(
  object: Item,
  reference: DeepReadonly<OwnerReference>,
  events: EventRecorder,
): void {
  const { apiVersion, kind, name, uid } = reference;
  const { namespace = '' } = object.metadata;
  events.record(object, {
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef [${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}] does not exist in namespace "${namespace}"`,
  });
}
