import { REPLACES_PODS_OF, renderReplacedOwners } from '@rollkeeper/machinery/kubernetes';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { Pass, Policy } from '../common/pass.js';
import type { PolicySettings } from '../common/settings.js';

export interface SpreadFields {
  /** Whether new pods are spread as if those that they replace were gone. @default false: all pods count, as in Kubernetes */
  readonly spreadsAfterRollout: boolean;
}

const AFTER_ROLLOUT = 'after-rollout';

export const SPREAD_SETTINGS: PolicySettings<SpreadFields> = {
  none: { spreadsAfterRollout: false },
  readers: {
    spread: (text, fields) => {
      if (text !== AFTER_ROLLOUT) return `is not ${AFTER_ROLLOUT}`;
      fields.spreadsAfterRollout = true;
      return undefined;
    },
  },
  keeps: [REPLACES_PODS_OF],
};

/** The scheduler gets to know which pods a rollout takes away next, and leaves them out of its sums. */
export const SPREAD: Policy<Pass<SpreadFields>> = {
  conclude: ({ draft, isDeleted, policy }) => {
    const grown = isDeleted ? undefined : grownSet(draft);
    if (grown) noteReplaced(draft, grown, policy.spreadsAfterRollout ? replacedBy(draft, grown) : []);
  },
};

/** The one ReplicaSet that gets pods in this pass, so that the note goes with its size. A change of `replicas` may give pods to several. */
function grownSet(draft: RolloutDraft): ReplicaSetDraft | undefined {
  const grown = draft.living.filter((set) => set.replicas > sizeBefore(set));
  return grown.length === 1 ? grown[0] : undefined;
}

function sizeBefore({ observed }: ReplicaSetDraft): number {
  return observed ? (observed.spec.replicas ?? 1) : 0;
}

/** The ReplicaSets that lose all of their pods to the new one. At a step, some of their pods stay and count. */
function replacedBy(draft: RolloutDraft, grown: ReplicaSetDraft): readonly string[] {
  if (draft.spec.paused || draft.newSize < draft.replicas) return [];
  return draft.living
    .filter((set) => set !== grown && sizeBefore(set) > 0)
    .flatMap(({ observed }) => observed?.metadata.uid ?? []);
}

function noteReplaced(draft: RolloutDraft, set: ReplicaSetDraft, uids: readonly string[]): void {
  const { [REPLACES_PODS_OF]: noted, ...others } = set.annotations;
  const wanted = uids.length === 0 ? undefined : renderReplacedOwners(uids);
  if (noted === wanted) return;
  draft.annotate(set, wanted === undefined ? others : { ...others, [REPLACES_PODS_OF]: wanted });
}
