import type { Clock } from '../../base/clock/index.js';
import { toRfc3339 } from '../../base/clock/index.js';
import type { Lister } from '../../kit/index.js';
import { OWNER_UID_INDEX } from '../../kit/index.js';
import type { DeepReadonly, Deployment, Pod, ReplicaSet } from '../../base/kubernetes/index.js';
import type { ReplicaSetClaims } from './claim-replica-sets.js';
import { decideRollout } from './decide.js';
import { RolloutDraft } from './draft.js';
import type { DeploymentPlan } from './plan.js';
import { netPlan } from './plan.js';
import type { RolloutRules } from './rollout-rules.js';

/** What a pass over a Deployment is decided from. */
export interface PassDependencies {
  readonly deployments: Lister<Deployment>;
  /** With ORPHAN_INDEX. */
  readonly replicaSets: Lister<ReplicaSet>;
  readonly pods: Lister<Pod>;
  readonly clock: Clock;
  readonly rules: RolloutRules;
}

/** The draft of a pass that begins now. */
export function draftPass(
  deployment: DeepReadonly<Deployment>,
  { adopt: adopted, owned }: ReplicaSetClaims,
  { clock }: PassDependencies,
): RolloutDraft {
  const nowMs = clock.now();
  return new RolloutDraft({ deployment, owned, adopted, now: toRfc3339(nowMs), nowMs });
}

/** Plays the pass on its draft, and nets what has to be written. */
export function decidePass(
  draft: RolloutDraft,
  { release }: ReplicaSetClaims,
  { pods, rules }: PassDependencies,
): DeploymentPlan {
  const podsOf = (replicaSet: DeepReadonly<ReplicaSet> | undefined): readonly DeepReadonly<Pod>[] => {
    const uid = replicaSet?.metadata.uid;
    return uid === undefined ? [] : pods.byIndex(OWNER_UID_INDEX, uid);
  };
  decideRollout(draft, { podsOf: ({ observed }) => podsOf(observed), rules });
  return netPlan(draft, release);
}
