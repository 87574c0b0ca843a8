import { isCount } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { replicasOf } from '../../kubernetes/limits.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import { activeOf } from '../../kubernetes/replica-set-draft.js';
import { revisionOf } from '../../kubernetes/revision.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { Outcome } from '../common/outcome.js';
import type { Pass, Policy } from '../common/pass.js';
import { normal, tellEvent } from '../common/tell.js';
import { SIZE_AT_START, type AutoscalingFields, type AutoscalingMode } from './settings.js';

interface AutoscalingPass extends Pass<AutoscalingFields> {
  readonly outcome: Outcome & {
    /** The size that counts in this pass in place of the spec's. @default the spec's own counts */
    heldSize?: number;
  };
}

/**
 * An autoscaler does not shrink a Deployment in the middle of a rollout. The first policy to prepare and the last to
 * conclude: all others, and the syncs, see the size that counts, and the spec of the Deployment is never written with it.
 */
export const AUTOSCALING: Policy<AutoscalingPass> = {
  prepare: (pass) => {
    const { draft, isDeleted, policy } = pass;
    if (isDeleted || draft.spec.paused || !policy.autoscaling) return;
    const asked = replicasOf(draft.spec);
    const replicas = sizeThatCounts(policy.autoscaling, asked, sizeAtStart(draft));
    if (replicas === asked) return;
    draft.spec = { ...draft.spec, replicas };
    pass.outcome.heldSize = replicas;
    tellHeldSize(pass, asked, replicas);
  },
  conclude: ({ draft, isDeleted, outcome, policy }) => {
    const counted = replicasOf(draft.spec);
    const { spec } = draft.observed;
    // Another size than the one that was put there is the decision of another policy, and is written.
    if (outcome.heldSize === counted)
      draft.spec =
        draft.spec.template === spec.template ? spec : { ...draft.spec, replicas: replicasOf(spec) };
    if (!isDeleted && !draft.spec.paused)
      noteStart(draft, policy.autoscaling === undefined ? undefined : counted);
  },
};

/** A size of 0 always counts: it is how a person stops a workload. */
function sizeThatCounts(mode: AutoscalingMode, asked: number, atStart: number | undefined): number {
  if (atStart === undefined || asked === 0) return asked;
  return mode === 'hold' ? atStart : Math.max(atStart, asked);
}

/** The size when the rollout that is under way began; undefined if none is. */
function sizeAtStart(draft: RolloutDraft): number | undefined {
  const latest = latestOf(draft, draft.living);
  const isUnderWay = activeOf(draft.living).some((set) => set !== latest);
  if (!isUnderWay) return undefined;
  return noted(latest) ?? leftToTheNext(draft.living);
}

/** A version that is replaced in the middle of its own rollout leaves its size to the next one, although it may have no pod yet. */
function leftToTheNext(living: readonly ReplicaSetDraft[]): number | undefined {
  const newestFirst = living.toSorted((a, b) => Number(revisionOf(b) - revisionOf(a)));
  return newestFirst.map(noted).find((size) => size !== undefined);
}

function noted(set: ReplicaSetDraft | undefined): number | undefined {
  const text = set?.annotations[SIZE_AT_START] ?? '';
  const size = /^\d{1,10}$/.test(text) ? Number(text) : undefined;
  return isCount(size) && size > 0 ? size : undefined;
}

/**
 * Notes the size on the new version with its first write, and takes the note back when its rollout is over. A version that is replaced in the
 * middle keeps its note until the next one has it: the process may die between the two writes.
 */
function noteStart(draft: RolloutDraft, counted: number | undefined): void {
  const latest = latestOf(draft, draft.living);
  const isUnderWay = activeOf(draft.living).some((set) => set !== latest);
  const counts = isUnderWay && counted !== undefined && counted > 0;
  const isHandedOver = latest?.observed?.metadata.annotations?.[SIZE_AT_START] !== undefined;
  for (const set of draft.living) {
    const { [SIZE_AT_START]: before, ...others } = set.annotations;
    const noted = set === latest ? (before ?? String(counted)) : isHandedOver ? undefined : before;
    const wanted = counts ? noted : undefined;
    if (before === wanted) continue;
    draft.annotate(set, wanted === undefined ? others : { ...others, [SIZE_AT_START]: wanted });
  }
}

/** Once for each change of the Deployment. */
function tellHeldSize({ draft, outcome }: AutoscalingPass, asked: number, replicas: number): void {
  const { metadata, status } = draft.observed;
  if ((status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)) return;
  const message = `replicas is ${asked}; until the rollout is over, ${replicas} count, as when it began`;
  tellEvent(draft, outcome, normal('SizeHeld', message));
}
