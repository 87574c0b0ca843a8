import { counted } from '@rollkeeper/machinery/text';
import { parseTimeMs } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { PROGRESS_DEADLINE_EXCEEDED } from '../../kubernetes/reasons.js';
import { TURN } from './settings.js';
import { annotationOf } from '../common/names.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { Pass, Policy } from '../common/pass.js';
import type { Problem } from '../common/tell.js';
import type { VersionRule } from '../common/version-rule.js';
import { servedMeanwhile } from '../failure/go-back.js';
import type { FailureFields } from '../failure/settings.js';
import type { TurnFields } from './settings.js';
import { hashOf, replacesOthers } from '../common/revisions.js';
import {
  ROLLOUTS_NOT_LIMITED,
  WAITING_FOR_TURN,
  isRolledOut,
  normal,
  observedProgress,
  progressReason,
  tellEvent,
  tellProgress,
  asClause,
} from '../common/tell.js';
import type { QueuedRollout, Turn, TurnSource, Turns } from './turns.js';
import { decideTurns, nextRound, placeInQueue, readTurn, renderTurn } from './turns.js';

export interface TurnSurroundings {
  /** The queue of rollouts. @default not known */
  readonly turns?: Turns;
}
type TurnPass = Pass<TurnFields> & TurnSurroundings;

/** Limits how many Deployments roll out at once. */
export const TURNS: Policy<TurnPass> = {
  concerns: isLimitedInCluster,
  conclude: ({ draft, isAsked, turns }) => {
    if (!isAsked && turns !== undefined) giveTurnBack(draft);
  },
  trouble: turnTrouble,
};

/** A version begins when it is its turn. */
export const TAKE_TURNS: VersionRule<Pass<TurnFields & FailureFields> & TurnSurroundings> = {
  choose: (pass, rollout) => {
    const runs = servedMeanwhile(pass, rollout);
    const wait = runs && waitForTurn(pass);
    return wait && { runs, afterwards: () => tellTurn(pass, wait.message), isWithheld: true };
  },
  withhold: ({ draft, turns }) => {
    if (turns !== undefined) giveTurnBack(draft);
  },
  conclude: keepTurn,
};

/** Why a limit is not kept. */
function turnTrouble({ policy: { maxRollouts }, turns }: TurnPass): Problem | undefined {
  if (maxRollouts === undefined || turns !== 'off') return undefined;
  const name = annotationOf('max-rollouts');
  const message = `${name} is given on the Namespace, and no turns are given: start the controller with --max-rollouts`;
  return { reason: ROLLOUTS_NOT_LIMITED, message };
}

/** Whether a limit counts for a Deployment of which no annotation says so; where it is not known, as the status has it. */
function isLimitedInCluster({ draft, turns }: TurnPass): boolean {
  if (turns === undefined) return observedProgress(draft)?.reason === WAITING_FOR_TURN;
  return turns !== 'off' && turns.clusterLimit !== undefined;
}

/** Why a version does not begin. */
interface WaitForTurn {
  /** Undefined: there is room, and the turn that was asked for comes in a moment. */
  readonly message?: string;
}

/** A turn for which there is room has been given by then. */
const ANSWERED_WITHIN_MS = 5000;

/**
 * Whether a version that has no ReplicaSet yet, and takes the place of another one, has to wait until it is its turn; if nothing has
 * asked for that yet, this does. A rollback, a change of `replicas`, and the first version of a Deployment never wait.
 */
function waitForTurn(pass: TurnPass): WaitForTurn | undefined {
  const { draft, turns } = pass;
  if (draft.replicas === 0) return undefined;
  if (turns === undefined) {
    const told = observedProgress(draft);
    return told?.reason === WAITING_FOR_TURN ? { message: told.message ?? '' } : undefined;
  }
  const limits = limitsOf(pass);
  if (turns === 'off' || limits.length === 0) return undefined;
  const turn = readTurn(draft.annotations) ?? newTurn(pass, turns);
  setTurn(draft, { ...turn, template: hashOf(draft) });
  if (turn.granted !== undefined) return undefined;
  const leftMs = (parseTimeMs(turn.asked) ?? 0) + ANSWERED_WITHIN_MS - draft.nowMs;
  if (leftMs > 0 && hasRoom(pass, turns, turn)) {
    lookAgainAfter(pass.outcome, leftMs);
    return {};
  }
  return { message: `It is not its turn: at most ${limits.join(', and ')}` };
}

/** Whether it would be next if it were asked now. */
function hasRoom({ draft, policy }: TurnPass, turns: TurnSource, turn: Turn): boolean {
  const { name, namespace = '' } = draft.observed.metadata;
  const isSelf = (each: Pick<QueuedRollout, 'name' | 'namespace'>): boolean =>
    each.namespace === namespace && each.name === name;
  const queued = turns.queued();
  const own = queued.find(isSelf) ?? { namespace, name, priority: 0, turn };
  const limits = {
    cluster: turns.clusterLimit,
    namespaceOf: (each: string) => (each === namespace ? policy.maxRollouts : undefined),
  };
  return decideTurns([...queued.filter((each) => !isSelf(each)), own], limits).some(isSelf);
}

function tellTurn({ draft, outcome, policy, turns }: TurnPass, message: string | undefined): void {
  outcome.isWaiting = true;
  if (message === undefined) return;
  if (observedProgress(draft)?.message !== message) {
    const { name, namespace = '' } = draft.observed.metadata;
    const queued = turns === undefined || turns === 'off' ? [] : turns.queued();
    const isShared = policy.maxRollouts === undefined;
    const { behind, waitingBefore } = placeInQueue({ namespace, name }, queued, isShared);
    const place =
      behind === undefined ? '' : `; ${waitingBefore} others wait before it, the next is ${behind}`;
    tellEvent(draft, outcome, normal(WAITING_FOR_TURN, message + place));
  }
  tellProgress(draft, { status: 'Unknown', reason: WAITING_FOR_TURN, message });
  outcome.standing = {
    code: 'waits-for-turn',
    sentence: asClause(message),
    unblockedBy: [
      'the end of a rollout before it: complete, failed, paused or deleted',
      `a higher ${annotationOf('max-rollouts')} or --max-rollouts, or a higher ${annotationOf('rollout-priority')} in its namespace`,
    ],
    endsByItself: false,
  };
}

/**
 * Keeps the turn of a rollout that is under way, also of one that began without, so that it is counted; gives back the turn of one that
 * is over, or whose progress deadline has passed: what is stuck must not hold others up.
 */
function keepTurn(pass: TurnPass, latest: ReplicaSetDraft | undefined): void {
  const { draft, turns } = pass;
  if (turns === undefined) return;
  const turn = readTurn(draft.annotations);
  const isOn = turns !== 'off' && limitsOf(pass).length > 0;
  if (!isOn || !isRolling(draft, latest, turn)) return giveTurnBack(draft);
  if (turn?.granted === undefined) setTurn(draft, { ...(turn ?? newTurn(pass, turns)), granted: draft.now });
}

function giveTurnBack(draft: RolloutDraft): void {
  if (draft.annotations[TURN] === undefined) return;
  const { [TURN]: _turn, ...others } = draft.annotations;
  draft.replaceMetadata(others);
}

function isRolling(
  draft: RolloutDraft,
  latest: ReplicaSetDraft | undefined,
  turn: Turn | undefined,
): boolean {
  const reason = progressReason(draft);
  if (isRolledOut(reason) || reason === PROGRESS_DEADLINE_EXCEEDED) return false;
  const isBegun = reason !== undefined && turn?.granted !== undefined;
  return isBegun || replacesOthers(draft, latest);
}

function newTurn({ draft }: TurnPass, turns: TurnSource): Turn {
  const { namespace = '' } = draft.observed.metadata;
  const round = nextRound(namespace, turns.queued());
  return { template: hashOf(draft), asked: draft.now, round };
}

function setTurn(draft: RolloutDraft, turn: Turn): void {
  const text = renderTurn(turn);
  if (draft.annotations[TURN] !== text) draft.replaceMetadata({ ...draft.annotations, [TURN]: text });
}

/** In words. */
function limitsOf({ draft, policy, turns }: TurnPass): readonly string[] {
  const cluster = turns === undefined || turns === 'off' ? undefined : turns.clusterLimit;
  const { namespace = '' } = draft.observed.metadata;
  return [
    ...(policy.maxRollouts === undefined
      ? []
      : [`${counted(policy.maxRollouts, 'rollout')} at once in namespace ${namespace}`]),
    ...(cluster === undefined ? [] : [`${counted(cluster, 'rollout')} at once in the cluster`]),
  ];
}
