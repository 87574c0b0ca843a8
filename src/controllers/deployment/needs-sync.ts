import type { Clock } from '../../clock/index.js';
import { toRfc3339 } from '../../clock/index.js';
import type { Lister } from '../../informer/informer.js';
import { OWNER_UID_INDEX } from '../../informer/informer.js';
import type { DeepReadonly, Deployment, LabelMatcher, Pod, ReplicaSet } from '../../kubernetes/index.js';
import { isEmptySelector } from '../../kubernetes/index.js';
import { claimReplicaSets } from './claim-replica-sets.js';
import { decideRollout } from './decide.js';
import { RolloutDraft } from './draft.js';
import { isEmptyPlan, netPlan } from './plan.js';
import { progressCheckAfterMs } from './progress.js';
import type { RolloutRules } from './rollout-rules.js';
import { validateDeployment } from './validate.js';

export interface NeedsSyncDependencies {
  readonly deployments: Lister<Deployment>;
  /** With ORPHAN_INDEX. */
  readonly replicaSets: Lister<ReplicaSet>;
  readonly pods: Lister<Pod>;
  readonly clock: Clock;
  readonly rules: RolloutRules;
}

/**
 * Whether a pass over the Deployment, as the caches show it, would write, tell or wait for anything: decides it without
 * carrying it out, which costs a tenth of a sync. Every later change asks for itself, so "no" loses nothing. A rollout
 * that goes on is always worth a sync, since its deadline has to be watched.
 */
export function needsSync(key: string, dependencies: NeedsSyncDependencies): boolean {
  const deployment = dependencies.deployments.get(key);
  if (!deployment || isEmptySelector(deployment.spec.selector)) return true;
  const validation = validateDeployment(deployment);
  return !validation.valid || wouldDoAnything(deployment, validation.selects, dependencies);
}

function wouldDoAnything(
  deployment: DeepReadonly<Deployment>,
  selects: LabelMatcher,
  { clock, pods, replicaSets, rules }: NeedsSyncDependencies,
): boolean {
  const { adopt, owned, release } = claimReplicaSets(deployment, selects, replicaSets);
  if (adopt.length > 0 || release.length > 0) return true;
  const nowMs = clock.now();
  const draft = new RolloutDraft({ deployment, owned, adopted: adopt, now: toRfc3339(nowMs), nowMs });
  const podsOf = (uid: string | undefined): readonly DeepReadonly<Pod>[] =>
    uid === undefined ? [] : pods.byIndex(OWNER_UID_INDEX, uid);
  decideRollout(draft, { podsOf: ({ observed }) => podsOf(observed?.metadata.uid), rules });
  return !isEmptyPlan(netPlan(draft, release)) || progressCheckAfterMs(draft) !== undefined;
}
