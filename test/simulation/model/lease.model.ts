import type { FinishedAttempt } from '../../../src/runtime/leader-election/decide-lease-step.js';
import { decideLeaseStep, leadsUntilMs } from '../../../src/runtime/leader-election/decide-lease-step.js';
import type { HeldTerm } from '../../../src/runtime/leader-election/decide-term.js';
import { epochAboveAfter, termAfter, termWonBy } from '../../../src/runtime/leader-election/decide-term.js';
import { compileLeaderElectionOptions } from '../../../src/runtime/leader-election/leader-election.options.js';
import { answerAttempt } from '../../../src/runtime/leader-election/memory-resource-lock.js';
import type { LeaseAttempt } from '../../../src/runtime/leader-election/resource-lock.js';
import type { LeaderTerm } from '../../../src/runtime/work-queue/index.js';
import { isCurrent, mayBegin } from '../../../src/runtime/work-queue/term-fence.js';
import type { Model, Step } from './explorer.js';
import { leaseFingerprint } from './lease.fingerprint.js';
import type { Answer, LeaseState, Replica, Request } from './lease.state.js';
import { SECOND, interrupt, newReplica, passed, spend, withReplica } from './lease.state.js';

/*
 * Two replicas, the store of their lease, and a queue that accepts the adds of one term. Each has a clock of its own, and
 * every time in a state is relative to its owner's: now is 0. A replica that is not paused does what it has to before the
 * next second, and a message arrives within its second, unless a fault says otherwise. The steps are those of the product:
 * `decideLeaseStep`, `termWonBy`, `termAfter` and `epochAboveAfter` on a replica, `answerAttempt` in the store, `mayBegin`
 * and `isCurrent` in the queue.
 */

/** A slow clock may lose a second: as much as the lease outlasts the renew deadline. */
const OPTIONS = compileLeaderElectionOptions({
  ...{ leaseDurationMs: 4 * SECOND, renewDeadlineMs: 3 * SECOND, retryPeriodMs: SECOND, jitterFactor: 1.2 },
  takeover: 'expiry',
});

export function leaseModel(faults: number): Model<LeaseState> {
  return {
    name: 'lease',
    initial: {
      replicas: [newReplica('A'), newReplica('B')],
      held: undefined,
      before: undefined,
      acquisitions: 0,
      late: undefined,
      queueTerm: undefined,
      hasLost: false,
      faultsLeft: faults,
      wrong: undefined,
    },
    steps: (state) => {
      const own = [0, 1].flatMap((index) => stepsOf(state, index));
      return [
        ...own,
        ...deliverLate(state),
        ...timePasses(state, own),
        ...(state.faultsLeft > 0 ? faultsOf(spend(state)) : []),
      ];
    },
    fingerprint: leaseFingerprint,
    violation,
    goal: {
      says: 'a replica leads and its adds are accepted',
      isReached: ({ queueTerm, replicas }) =>
        replicas.some(({ term, work }) => isLeading(term) && work?.hasBegun && isCurrent(queueTerm, work)),
    },
  };
}

function violation({ hasLost, replicas, wrong }: LeaseState): string | undefined {
  if (wrong !== undefined) return wrong;
  const leading = replicas.filter(({ term }) => isLeading(term));
  return leading.length > 1 && !hasLost ? 'Two replicas believe at the same time that they lead' : undefined;
}

/** `LeaderElector.isLeader` */
function isLeading(term: HeldTerm | undefined): boolean {
  return term !== undefined && leadsUntilMs(term.renewedAtMs, OPTIONS) > 0;
}

type ReplicaStep = Step<LeaseState> & { readonly mayWait?: boolean };

/** The next steps of the replica, and the fates of its request. */
function stepsOf(state: LeaseState, index: number): ReplicaStep[] {
  const replica = state.replicas[index] as Replica;
  if (replica.isPaused)
    return [
      {
        says: `${replica.identity} goes on`,
        to: withReplica(state, index, { isPaused: false }),
        mayWait: true,
      },
    ];
  const { identity, request, term, work } = replica;
  const steps = [...stepsOfWork(state, index)];
  if (request) return [...steps, ...stepsOfRequest(state, index, request)];
  // The next campaign waits for the end of the last term's work.
  if (!term && work) return steps;
  const step = decideLeaseStep({ nowMs: 0, term, last: replica.last }, OPTIONS);
  if (step.step === 'attempt') steps.push(...stepsOfAttempt(state, index, step.timeoutMs));
  if (step.step === 'stepDown') {
    const { reason } = step;
    const isInterrupted = term && reason === 'interrupted';
    const epochAbove = isInterrupted
      ? epochAboveAfter(replica.epochAbove, { by: 'interruption', epoch: term.epoch })
      : replica.epochAbove;
    const over = { term: undefined, last: undefined, epochAbove, wasInterrupted: false };
    steps.push({ says: `${identity} steps down (${reason})`, to: withReplica(state, index, over) });
  }
  return steps;
}

/** One attempt: it is executed and answered, or one of its messages meets a fault. */
function stepsOfAttempt(state: LeaseState, index: number, timeoutMs: number): ReplicaStep[] {
  const { epochAbove, identity, term, wasInterrupted } = state.replicas[index] as Replica;
  const what = term ? 'renew its lease' : 'have the lease';
  const sent = { sentAtMs: 0, timeoutMs, answer: undefined };
  const { after, answer: bare } = executed(state, identity, epochAbove);
  const answer = { ...bare, isAfterInterruption: wasInterrupted };
  const told = `"${answer.outcome}", epoch ${answer.record.leaderTransitions}`;
  const steps: ReplicaStep[] = [
    {
      says: `${identity} asks to ${what}, and is answered ${told}`,
      to: finished(after, index, sent, answer),
    },
  ];
  if (state.faultsLeft === 0) return steps;
  const waits = (from: LeaseState, request: Request, isPaused = false): LeaseState =>
    withReplica(spend(from), index, { request, isPaused });
  steps.push({
    says: `${identity} asks to ${what}, and the request is lost`,
    to: waits(state, sent),
    isFault: true,
  });
  if (answer.outcome !== 'held')
    steps.push(
      {
        says: `${identity} asks to ${what}, and the answer ${told} is lost`,
        to: waits(after, sent),
        isFault: true,
      },
      {
        says: `${identity} asks to ${what}, and is paused before the answer ${told} arrives`,
        to: waits(after, { ...sent, answer }, true),
        isFault: true,
      },
    );
  if (!state.late)
    steps.push({
      says: `${identity} asks to ${what}, and the request is held up`,
      to: { ...waits(state, sent), late: { identity, epochAbove } },
      isFault: true,
    });
  return steps;
}

function stepsOfRequest(state: LeaseState, index: number, request: Request): ReplicaStep[] {
  const { identity } = state.replicas[index] as Replica;
  const { answer, sentAtMs, timeoutMs } = request;
  if (!answer && sentAtMs + timeoutMs > 0) return [];
  const says = answer ? `The answer to ${identity} arrives` : `${identity} gives up waiting for the answer`;
  return [{ says, to: finished(state, index, request, answer) }];
}

function executed(
  state: LeaseState,
  identity: string,
  epochAbove: number,
): { readonly answer: LeaseAttempt; readonly after: LeaseState } {
  const { leaseDurationMs } = OPTIONS;
  const wallMs = state.acquisitions;
  const request = { epochAbove };
  const { answer, held } = answerAttempt(state.held, {
    identity,
    leaseDurationMs,
    nowMs: 0,
    request,
    wallMs,
  });
  const isAcquired = answer.outcome === 'acquired';
  const next = {
    ...state,
    held,
    acquisitions: state.acquisitions + (isAcquired ? 1 : 0),
    before: isAcquired ? state.held : state.before,
  };
  return { answer, after: interrupt(next) };
}

/** The replica has an answer, or none after all. */
function finished(
  state: LeaseState,
  index: number,
  request: Request,
  answer: Answer | undefined,
): LeaseState {
  const replica = state.replicas[index] as Replica;
  const last: FinishedAttempt = {
    sentAtMs: request.sentAtMs,
    endedAtMs: 0,
    result: answer?.outcome ?? 'failed',
    retryMs: OPTIONS.retryPeriodMs,
    ...(answer && { acquireTime: answer.record.acquireTime, epoch: answer.record.leaderTransitions }),
    ...(answer?.outcome === 'held' && { remainingMs: answer.remainingMs }),
  };
  let { epochAbove } = replica;
  if (answer && answer.record.holderIdentity !== replica.identity)
    epochAbove = epochAboveAfter(epochAbove, {
      by: 'another-holder',
      epoch: answer.record.leaderTransitions,
    });
  if (replica.term) {
    const term = termAfter(replica.term, last, OPTIONS);
    const after = withReplica(state, index, { request: undefined, last, term, epochAbove });
    const next = decideLeaseStep({ nowMs: 0, term, last }, OPTIONS);
    const goesOn =
      answer?.isAfterInterruption === true && answer.outcome !== 'held' && next.step !== 'stepDown';
    return goesOn
      ? {
          ...after,
          wrong: `${replica.identity} continues a term although the lease was not its own in between`,
        }
      : after;
  }
  const term = termWonBy(last, 0, OPTIONS);
  if (!term) return withReplica(state, index, { request: undefined, last, epochAbove });
  const { epoch } = term;
  return interrupt(
    withReplica(state, index, {
      ...{ request: undefined, last: undefined, term, wasInterrupted: false },
      epochAbove: epochAboveAfter(epochAbove, { by: 'own-term', epoch }),
      work: { epoch, holder: replica.identity, hasBegun: false },
    }),
  );
}

/** The leading work begins its term in the queue, adds, and ends at some time after its term. */
function stepsOfWork(state: LeaseState, index: number): ReplicaStep[] {
  const { epochAbove, identity, term, work } = state.replicas[index] as Replica;
  if (!work) return [];
  const { epoch } = work;
  const steps: ReplicaStep[] = [];
  if (!term)
    steps.push({
      says: `${identity}'s work of epoch ${epoch} ends`,
      to: withReplica(state, index, { work: undefined }),
      mayWait: true,
    });
  const refused = (says: string, current: LeaderTerm | undefined): Step<LeaseState> => {
    const above = epochAboveAfter(epochAbove, { by: 'refusal', epoch: current?.epoch ?? 0 });
    const over = {
      term: undefined,
      last: undefined,
      work: undefined,
      epochAbove: above,
      wasInterrupted: false,
    };
    return { says, to: withReplica(state, index, over) };
  };
  const { queueTerm } = state;
  if (!work.hasBegun) {
    const says = `${identity}'s term of epoch ${epoch} begins in the queue`;
    if (!mayBegin(queueTerm, work)) return [...steps, refused(`${says}, and is refused`, queueTerm)];
    const begun = withReplica({ ...state, queueTerm: { epoch, holder: identity } }, index, {
      work: { ...work, hasBegun: true },
    });
    return [
      ...steps,
      {
        says,
        to: goesBack(queueTerm, work) ? { ...begun, wrong: 'The term of the queue goes back' } : begun,
      },
    ];
  }
  const says = `${identity} adds a key in epoch ${epoch}`;
  if (!isCurrent(queueTerm, work)) return [...steps, refused(`${says}, and is refused`, queueTerm)];
  const isOther = queueTerm?.epoch !== epoch || queueTerm.holder !== identity;
  if (isOther)
    steps.push({ says, to: { ...state, wrong: 'The queue accepts an add of another term than its own' } });
  return steps;
}

function goesBack(current: LeaderTerm | undefined, { epoch, holder }: LeaderTerm): boolean {
  if (!current) return false;
  return epoch < current.epoch || (epoch === current.epoch && holder !== current.holder);
}

function deliverLate(state: LeaseState): Step<LeaseState>[] {
  if (!state.late) return [];
  const { epochAbove, identity } = state.late;
  const { after, answer } = executed({ ...state, late: undefined }, identity, epochAbove);
  return [{ says: `The store executes the late request of ${identity} ("${answer.outcome}")`, to: after }];
}

/** No time passes while a replica has something to do at once. */
function timePasses(state: LeaseState, own: readonly ReplicaStep[]): Step<LeaseState>[] {
  const isBusy = own.some(({ isFault, mayWait }) => !isFault && !mayWait);
  return isBusy ? [] : [{ says: 'A second passes', to: passed(state) }];
}

/** Faults of processes, clocks and the store. One has been paid for. */
function faultsOf(state: LeaseState): Step<LeaseState>[] {
  const steps: Step<LeaseState>[] = [];
  for (const [index, { identity, isPaused, isSlow }] of state.replicas.entries()) {
    const killed = withReplica(state, index, newReplica(`${identity}'`));
    steps.push({
      says: `${identity} is killed, and starts again as ${identity}'`,
      to: killed,
      isFault: true,
    });
    if (!isPaused)
      steps.push({
        says: `${identity} is paused`,
        to: withReplica(state, index, { isPaused: true }),
        isFault: true,
      });
    if (!isSlow)
      steps.push({
        says: `A second passes, which the clock of ${identity} misses`,
        to: passed(state, index),
        isFault: true,
      });
  }
  const lossy = { ...state, hasLost: true };
  if (state.held) {
    const empty = interrupt({ ...lossy, held: undefined, before: undefined, queueTerm: undefined });
    steps.push({ says: 'The store and the queue lose all data', to: empty, isFault: true });
  }
  if (state.before) {
    const back = interrupt({ ...lossy, held: state.before, before: undefined });
    steps.push({ says: 'The store goes back to before the last acquisition', to: back, isFault: true });
  }
  return steps;
}
