import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { isCount, isShortText, isTime, readJson } from '../../../shared/index.js';
import type { Annotations } from '../../kubernetes/annotations.js';
import { OWN_RULES } from '../../kubernetes/rollout-rules.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { sumAvailable, totalReplicas } from '../../kubernetes/replica-set-draft.js';
import { maxTotalReplicas, minAvailable } from '../../kubernetes/limits.js';
import { SIZES } from './settings.js';
import type { Outcome } from '../common/outcome.js';

/** One change of a ReplicaSet's size, and the sums of the decision. */
export interface SizeStep {
  /** Counts the changes of this ReplicaSet, so that each is recorded once. */
  readonly n: number;
  /** RFC 3339, with milliseconds: several steps within a second are usual. */
  readonly at: string;
  readonly from: number;
  readonly to: number;
  /** Pods that all ReplicaSets ask for after the decision, and the most that they may. */
  readonly total: number;
  readonly most: number;
  /** Pods that were available, and the least that must be. */
  readonly available: number;
  readonly least: number;
  /** The thing that a policy waits for, if it limits the size. */
  readonly policy?: string;
}

/** The controller that records them is seldom further behind than this. */
const MOST_KEPT = 8;
/** Room for those that follow: a higher number is not one of ours, and counting begins again. */
const MOST_NUMBERED = 2 ** 31 - 1 - 1000;

/** The steps on a ReplicaSet, newest first. What cannot be read is no step: another hand wrote it. */
export function readSizeSteps(annotations: Annotations | undefined): readonly SizeStep[] {
  const read = readJson(annotations?.[SIZES]);
  return Array.isArray(read) ? read.slice(0, MOST_KEPT).filter(isStep) : [];
}

/**
 * Notes each new size on its ReplicaSet, in the write that sets it, or in the first of those: so no write is added, and a decision is
 * noted only where it was carried out.
 */
export function noteSizeSteps(draft: RolloutDraft, { standing }: Outcome): void {
  draft.limit({ sizeNotes: { annotation: SIZES, ofWrites: notesOfWrites } });
  for (const replicaSet of draft.living) {
    const from = replicaSet.observed ? (replicaSet.observed.spec.replicas ?? 1) : 0;
    if (from !== replicaSet.replicas) noteStep(draft, replicaSet, { from, policy: standing?.code });
  }
}

function noteStep(
  draft: RolloutDraft,
  replicaSet: ReplicaSetDraft,
  { from, policy }: Pick<SizeStep, 'from' | 'policy'>,
): void {
  // The notes of what was observed, so that a pass that is played again notes the same.
  const before = readSizeSteps(replicaSet.observed?.metadata.annotations);
  const step: SizeStep = {
    n: (before[0]?.n ?? 0) + 1,
    at: new Date(draft.nowMs).toISOString(),
    ...{ from, to: replicaSet.replicas },
    ...{ total: totalReplicas(draft.living), most: maxTotalReplicas(draft.spec) },
    ...{ available: sumAvailable(draft.living, OWN_RULES), least: minAvailable(draft.spec) },
    ...(policy !== undefined && { policy }),
  };
  const steps = [step, ...before].slice(0, MOST_KEPT);
  draft.annotate(replicaSet, { ...replicaSet.annotations, [SIZES]: stringifyJson(steps) });
}

/**
 * Splits the step that a pass has noted into one step for each write of the size. A replica that dies between two writes
 * has then noted no size that was never written.
 * @param sizes of the writes, in order; the first begins where the note does
 * @returns the annotation of each write; undefined where the pass has noted nothing
 */
export function notesOfWrites(
  { annotations, observed }: Pick<ReplicaSetDraft, 'annotations' | 'observed'>,
  sizes: readonly Pick<SizeStep, 'from' | 'to'>[],
): readonly string[] | undefined {
  const [whole, ...before] = readSizeSteps(annotations);
  const [known] = readSizeSteps(observed?.metadata.annotations);
  if (!whole || whole.n === known?.n) return undefined;
  return sizes.map((_, index) => {
    const written = sizes
      .slice(0, index + 1)
      .map(({ from, to }, at) => ({ ...whole, n: whole.n + at, from, to }));
    return stringifyJson([...written.toReversed(), ...before].slice(0, MOST_KEPT));
  });
}

function isStep(value: unknown): value is SizeStep {
  if (!isJsonObject(value)) return false;
  const { at, available, from, least, most, n, policy, to, total } = value;
  return (
    [available, from, least, most, to, total].every(isCount) &&
    isCount(n) &&
    n < MOST_NUMBERED &&
    isTime(at) &&
    (policy === undefined || isShortText(policy))
  );
}
