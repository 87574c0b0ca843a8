import type { ApiClient } from '../../api-client/index.js';
import { isNotFound } from '../../api-client/index.js';
import type { EventRecorder } from '../../events/index.js';
import type { DeepReadonly, KubernetesObject, OwnerReference, ResourceType } from '../../kubernetes/index.js';
import type { AbsentOwners } from './absent-owners.js';
import type { ClassifiedOwner, OwnerState } from './decide-collection.js';
import type { DependencyGraph } from './dependency-graph.js';
import { ownerRef } from './dependency-graph.js';
import { isDeletingDependents } from './finalizers.js';
import type { OwnerTypes } from './owner-types.js';

type Item = DeepReadonly<KubernetesObject>;

export interface OwnerSources {
  readonly graph: DependencyGraph;
  readonly absent: AbsentOwners;
  readonly types: OwnerTypes;
  readonly events: EventRecorder;
}

export interface OwnerClassification {
  readonly owners: readonly ClassifiedOwner[];
  /** An owner's kind is unknown, or its scope impossible: nothing may be concluded about the object. */
  readonly undecidable: boolean;
  /** An owner is of a type whose changes we do not see, so the answer has to be asked for again. */
  readonly unmonitored: boolean;
}

/**
 * What the owners of `object` are like. The cache is believed when it shows an owner under its UID; an absence is
 * believed only from a deletion seen by an informer, or from the server itself.
 * Source: `classifyReferences` and `isDangling` in k/k pkg/controller/garbagecollector/garbagecollector.go.
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
    if (sources.absent.has(reference, object.metadata.namespace)) {
      owners.push({ reference, state: 'dangling' });
      continue;
    }
    const monitored = sources.graph.typeOf(reference);
    const type = monitored ?? (await sources.types.resolve(reference, client, signal));
    if (!type || hasImpossibleScope(object, reference, type, sources.events)) {
      undecidable = true;
      continue;
    }
    unmonitored ||= monitored === undefined;
    const cached = sources.graph.ownerOf(reference, object.metadata.namespace);
    const state = cached ? stateOf(cached.object) : await verify(object, reference, type);
    owners.push({ reference, state });
  }
  return { owners, undecidable, unmonitored };

  async function verify(
    dependent: Item,
    reference: DeepReadonly<OwnerReference>,
    type: ResourceType,
  ): Promise<OwnerState> {
    const { namespace } = dependent.metadata;
    try {
      const live = await client.get(type, ownerRef(reference, type, namespace), { signal });
      if (live.metadata.uid === reference.uid) return stateOf(live);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    sources.absent.addVerified(reference, namespace);
    const elsewhere = sources.graph.findByUid(reference.uid)?.object.metadata.namespace;
    if (elsewhere !== namespace && elsewhere !== undefined) {
      reportInvalidNamespace(dependent, reference, sources.events);
    }
    return 'dangling';
  }
}

function stateOf(owner: Item): OwnerState {
  return isDeletingDependents(owner) ? 'waiting' : 'solid';
}

/** A cluster-scoped object cannot have an owner in a namespace: which one would it be? It is left alone. */
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
