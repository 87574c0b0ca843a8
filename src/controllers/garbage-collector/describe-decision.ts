import type { Decision } from '@rollkeeper/runtime';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { Pod, keyOf, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { OwnerClassification } from './classify-owners.js';
import type { CollectionPlan, OwnerDuty, OwnerState } from './decide-collection.js';
import type { CollectableItem } from './item-key.js';
import type { GraphNode } from './ownership-index.js';

type Attributes = NonNullable<Decision['inputs']>;

/** One object as a pass sees it. */
export interface Look {
  readonly item: CollectableItem;
  readonly object: DeepReadonly<KubernetesObject>;
  /** All objects that name it as an owner. */
  readonly dependents: readonly GraphNode[];
}

/** The remaining duty of an object being deleted, for people. */
export function describeDuty(look: Look, duty: OwnerDuty): Decision {
  const blocking =
    duty.action === 'wait-for-dependents' ? { 'rollkeeper.dependents.blocking': duty.blocking.length } : {};
  return describe(look, duty.action, dutySummary(look, duty), blocking);
}

/** The action on an object because of its owners, for people. */
export function describeCollection(look: Look, owners: OwnerClassification, plan: CollectionPlan): Decision {
  const branch = owners.undecidable ? 'leave-alone' : plan.action;
  return describe(look, branch, collectionSummary(look, plan), {
    'rollkeeper.owners.solid': count(owners, 'solid'),
    'rollkeeper.owners.waiting': count(owners, 'waiting'),
    'rollkeeper.owners.dangling': count(owners, 'dangling'),
    'rollkeeper.owners.undecidable': owners.undecidable,
    'rollkeeper.owners.unmonitored': owners.unmonitored,
  });
}

/** The facts before the decision, for the trace. */
export function readAttributes({ dependents, item, object }: Look): Attributes {
  return {
    'k8s.resource': qualifiedResource(item.type),
    'k8s.resource_version': object.metadata.resourceVersion ?? '',
    'rollkeeper.dependents': dependents.length,
    'rollkeeper.owners': object.metadata.ownerReferences?.length ?? 0,
  };
}

function describe(
  { dependents, item, object }: Look,
  branch: string,
  summary: string,
  inputs: Attributes,
): Decision {
  return {
    branch,
    summary,
    changes: summary !== '',
    // Deleting a Deployment deletes thousands of pods.
    routine: qualifiedResource(item.type) === qualifiedResource(Pod),
    inputs: {
      'k8s.kind': item.type.kind,
      'rollkeeper.being_deleted': object.metadata.deletionTimestamp !== undefined,
      'rollkeeper.dependents': dependents.length,
      ...inputs,
    },
  };
}

function dutySummary({ dependents, item }: Look, duty: OwnerDuty): string {
  const name = nameOf(item);
  switch (duty.action) {
    case 'orphan-dependents':
      return `orphan ${dependents.length} dependents of ${name}, then let it go`;
    case 'remove-finalizer':
      return `remove finalizer ${duty.finalizer} of ${name}`;
    case 'wait-for-dependents':
    case 'wait-for-caches':
    case 'none':
      return '';
  }
}

function collectionSummary({ item }: Look, plan: CollectionPlan): string {
  const name = nameOf(item);
  switch (plan.action) {
    case 'delete':
      return `delete ${name} (${plan.policy})`;
    case 'drop-references':
      return `take ${plan.uids.length} owners that are gone off ${name}`;
    case 'keep':
      return '';
  }
}

function nameOf({ ref, type }: CollectableItem): string {
  return `${type.kind} ${keyOf(ref)}`;
}

function count({ owners }: OwnerClassification, wanted: OwnerState): number {
  return owners.filter(({ state }) => state === wanted).length;
}
