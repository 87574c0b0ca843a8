import type { EventNote } from '@rollkeeper/runtime';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf } from '@rollkeeper/machinery/kubernetes';
import type { NodeLabels } from '../shared/index.js';
import { decideRollout } from './decide-rollout.js';
import { RolloutDraft } from './kubernetes/draft.js';
import { latestOf, rolloutSetsOf } from './kubernetes/new-replica-set.js';
import { ROLLBACK_DONE } from './kubernetes/reasons.js';
import type { ReplicaSetDraft } from './kubernetes/replica-set-draft.js';
import { stepRollback } from './kubernetes/rollback.js';
import { OWN_RULES } from './kubernetes/rollout-rules.js';
import type { Standing } from './policies/common/outcome.js';
import { ANNOTATION_RULES } from './policies/known-names.js';
import { decideRemoval } from './policies/remove-pods/remove-pods.js';

/** The objects of a rollout, as they are now. */
export interface ObservedObjects {
  readonly deployment: DeepReadonly<Deployment>;
  /** The ReplicaSets that it controls. */
  readonly replicaSets: readonly DeepReadonly<ReplicaSet>[];
  /** The pods that those control. */
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly namespaceAnnotations?: Readonly<Record<string, string>>;
  readonly nodeLabels?: NodeLabels;
  readonly nowMs: number;
}

/** The result of the next pass of the controller. Nothing is written. */
export interface ForeseenPass {
  readonly replicaSets: readonly ReplicaSetDraft[];
  /** The name of the ReplicaSet with the Deployment's template; absent if there is none yet. */
  readonly latest?: string;
  /** Events that it would record. */
  readonly notes: readonly EventNote[];
  /** Why the policies do not let the rollout simply continue. */
  readonly standing?: Standing;
  /** Whether the progress deadline does not run. */
  readonly isWaiting: boolean;
}

/** Runs the controller's own decision on these objects. The Deployment must be valid. */
export function foreseePass(objects: ObservedObjects): ForeseenPass {
  const { namespaceAnnotations, nodeLabels: nodes } = objects;
  const draft = draftOf(objects);
  const latest = latestOf(draft, draft.replicaSets)?.name;
  const { outcome } = decideRollout(draft, {
    podsOf: podsIn(objects),
    rules: OWN_RULES,
    namespaceAnnotations,
    surroundings: { nodes },
    repeatsTold: true,
  });
  const { notes, replicaSets } = draft;
  return { replicaSets, latest, notes, standing: outcome?.standing, isWaiting: outcome?.isWaiting === true };
}

/** Why the controller would not remove the pods that the Deployment's annotation names; `undefined` if it would. */
export function refusalOfRemoval(objects: ObservedObjects): string | undefined {
  const podsOf = podsIn(objects);
  const removal = decideRemoval(draftOf(objects), podsOf, (scratch) =>
    decideRollout(scratch, { podsOf, rules: OWN_RULES }),
  );
  return removal?.kind === 'refused' ? removal.why : undefined;
}

/**
 * The Deployment's template and annotations after a rollback, or why there is none.
 * @param revision 0n: the one before the newest
 */
export function foreseeRollback(
  objects: Pick<ObservedObjects, 'deployment' | 'replicaSets'>,
  revision: bigint,
):
  | {
      readonly template: DeepReadonly<Deployment>['spec']['template'];
      readonly annotations: Record<string, string>;
    }
  | { readonly refused: string } {
  const draft = draftOf({ ...objects, nowMs: 0 });
  draft.limit({ annotationRules: ANNOTATION_RULES });
  stepRollback(draft, rolloutSetsOf(draft), revision, OWN_RULES);
  const outcome = draft.notes.at(-1);
  if (outcome?.reason !== ROLLBACK_DONE) return { refused: outcome?.message ?? 'nothing to roll back to' };
  return { template: draft.spec.template, annotations: draft.annotations };
}

function draftOf({
  deployment,
  nowMs,
  replicaSets: owned,
}: Pick<ObservedObjects, 'deployment' | 'replicaSets' | 'nowMs'>): RolloutDraft {
  return new RolloutDraft({ deployment, owned, adopted: [], now: toRfc3339(nowMs), nowMs });
}

function podsIn({ pods }: ObservedObjects) {
  const byOwner = Map.groupBy(pods, (pod) => controllerOf(pod)?.uid ?? '');
  return ({ observed }: { readonly observed?: DeepReadonly<ReplicaSet> }): readonly DeepReadonly<Pod>[] =>
    byOwner.get(observed?.metadata.uid ?? '') ?? [];
}
