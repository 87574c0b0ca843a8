import type { Hold } from '../../../src/machinery/concurrency/held-lock.js';
import { holdAfter, holdAt } from '../../../src/machinery/concurrency/held-lock.js';
import type { LockProof } from '../../../src/runtime/activation/actor-store.js';
import type { StoredLock } from '../../../src/runtime/activation/stored-lock.js';
import {
  acquiredLock,
  isProvenBy,
  lockedForMs,
  releasedLock,
  renewedLock,
} from '../../../src/runtime/activation/stored-lock.js';
import type { Model, Step } from './explorer.js';

/*
 * Two replicas that want the lock of one key, and its store. Every time is relative to its owner's clock: now is 0. A
 * replica that is not paused renews when it is due, and a message arrives within its tick, unless a fault says otherwise.
 * The steps are those of the product: `lockedForMs`, `acquiredLock`, `renewedLock`, `releasedLock` and `isProvenBy` in the
 * store, `holdAfter` and `holdAt` on a replica.
 */

const DURATION_MS = 2000;
const TICK_MS = 500;
/** The part of a tick that a slow clock misses: less than the safety margin of a lock. */
const MISSED_MS = 50;
const RENEW_AFTER_MS = 1000;
const LONG_AGO = -2 * DURATION_MS;

interface Activation {
  readonly proof: LockProof;
  readonly hold: Hold;
  /** When the last renewal was sent, or the lock acquired. */
  readonly askedAtMs: number;
  /** The store has renewed it, and the answer has not arrived. */
  readonly answer: { readonly isOurs: boolean } | undefined;
}

interface Replica {
  readonly identity: string;
  readonly activation: Activation | undefined;
  /** Granted by the store before the pause, with no answer yet. */
  readonly granted: { readonly proof: LockProof; readonly sentAtMs: number } | undefined;
  readonly isPaused: boolean;
  readonly isSlow: boolean;
}

export interface LockState {
  readonly replicas: readonly [Replica, Replica];
  readonly lock: StoredLock;
  readonly newestToken: number;
  /** The owner that the store has granted the lock to last. */
  readonly newestOwner: string;
  readonly activations: number;
  /** A message whose sender has given up on it, and that still travels. */
  readonly late:
    { readonly what: 'renew' | 'release' | 'store-intents'; readonly proof: LockProof } | undefined;
  /** The store has lost the lock: until the next renewal, two may hold it. */
  readonly hasLost: boolean;
  readonly faultsLeft: number;
  readonly wrong: string | undefined;
}

const FREE: StoredLock = { token: undefined, owner: undefined, lockedUntilMs: 0 };

export function lockModel(faults: number): Model<LockState> {
  return {
    name: 'lock',
    initial: {
      ...{ replicas: [newReplica('A'), newReplica('B')], lock: FREE, newestToken: 0, newestOwner: '' },
      ...{ activations: 0, late: undefined, hasLost: false, faultsLeft: faults, wrong: undefined },
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
    fingerprint,
    violation: ({ hasLost, replicas, wrong }) => {
      if (wrong !== undefined) return wrong;
      const holding = replicas.filter(({ activation }) => activation && !holdAt(activation.hold, 0).isOver);
      return holding.length > 1 && !hasLost
        ? 'Two activations of one key hold its lock at the same time'
        : undefined;
    },
    goal: {
      says: 'an activation holds the lock',
      isReached: ({ replicas }) =>
        replicas.some(({ activation }) => activation && !holdAt(activation.hold, 0).isOver),
    },
  };
}

function newReplica(identity: string): Replica {
  return { identity, activation: undefined, granted: undefined, isPaused: false, isSlow: false };
}

type ReplicaStep = Step<LockState> & { readonly isUrgent?: boolean };

function stepsOf(state: LockState, index: number): ReplicaStep[] {
  const replica = state.replicas[index] as Replica;
  const { activation, granted, identity, isPaused } = replica;
  if (isPaused) return [{ says: `${identity} goes on`, to: withReplica(state, index, { isPaused: false }) }];
  if (granted) {
    const begun = begin(granted.proof, granted.sentAtMs);
    const to = withReplica(state, index, { granted: undefined, activation: begun });
    return [{ says: `${identity} learns that it was given the lock`, to, isUrgent: true }];
  }
  if (!activation) return stepsOfAcquisition(state, index);
  if (activation.answer) return [stepOfAnswer(state, index, activation, activation.answer)];
  const over = withReplica(state, index, { activation: undefined });
  // A lock that is lost is not released: it expires.
  if (holdAt(activation.hold, 0).isOver)
    return [{ says: `${identity} notices that its lock has ended`, to: over, isUrgent: true }];
  return [
    ...(activation.askedAtMs <= -RENEW_AFTER_MS ? stepsOfRenewal(state, index, activation) : []),
    ...stepsOfMessage(state, over, identity, 'release', activation.proof),
    ...stepsOfMessage(state, state, identity, 'store-intents', activation.proof),
  ];
}

function stepsOfAcquisition(state: LockState, index: number): ReplicaStep[] {
  if (lockedForMs(state.lock, 0) > 0) return [];
  const { identity } = state.replicas[index] as Replica;
  const owner = `${identity}-${state.activations}`;
  const lock = acquiredLock(state.newestToken, owner, 0, DURATION_MS);
  const proof = { token: lock.token, owner };
  const taken: LockState = {
    ...{ ...state, lock, newestToken: lock.token, newestOwner: owner },
    activations: state.activations + 1,
  };
  const steps: ReplicaStep[] = [
    { says: `${identity} acquires the lock`, to: withReplica(taken, index, { activation: begin(proof, 0) }) },
  ];
  if (state.faultsLeft === 0) return steps;
  const paused = { granted: { proof, sentAtMs: 0 }, isPaused: true };
  steps.push(
    { says: `${identity} acquires the lock, and the answer is lost`, to: spend(taken), isFault: true },
    {
      says: `${identity} acquires the lock, and is paused before the answer arrives`,
      to: withReplica(spend(taken), index, paused),
      isFault: true,
    },
  );
  return steps;
}

function begin(proof: LockProof, sentAtMs: number): Activation {
  const hold = holdAfter(undefined, sentAtMs, DURATION_MS, 0);
  return { proof, hold, askedAtMs: sentAtMs, answer: undefined };
}

function stepsOfRenewal(state: LockState, index: number, activation: Activation): ReplicaStep[] {
  const { identity } = state.replicas[index] as Replica;
  const { proof } = activation;
  const asked = { ...activation, askedAtMs: 0 };
  const renewed = executed(state, 'renew', proof);
  const answer = { isOurs: isProvenBy(state.lock, proof) };
  const told = { ...asked, answer };
  const answered = stepOfAnswer(withReplica(renewed, index, { activation: told }), index, told, answer);
  const says = `${identity} renews its lock`;
  const steps: ReplicaStep[] = [{ says, to: answered.to, isUrgent: true }];
  if (state.faultsLeft === 0) return steps;
  const unanswered = withReplica(spend(state), index, { activation: asked });
  steps.push(
    { says: `${says}, and the request is lost`, to: unanswered, isFault: true },
    {
      says: `${says}, and the answer is lost`,
      to: withReplica(spend(renewed), index, { activation: asked }),
      isFault: true,
    },
    {
      says: `${says}, and is paused before the answer arrives`,
      to: withReplica(spend(renewed), index, { activation: told, isPaused: true }),
      isFault: true,
    },
  );
  if (!state.late)
    steps.push({
      says: `${says}, and the request is held up`,
      to: { ...unanswered, late: { what: 'renew', proof } },
      isFault: true,
    });
  return steps;
}

function stepOfAnswer(
  state: LockState,
  index: number,
  activation: Activation,
  { isOurs }: { readonly isOurs: boolean },
): ReplicaStep {
  const { identity } = state.replicas[index] as Replica;
  if (!isOurs) {
    const to = withReplica(state, index, { activation: undefined });
    return { says: `${identity} learns that its lock is another's`, to, isUrgent: true };
  }
  const hold = holdAfter(activation.hold, activation.askedAtMs, DURATION_MS, 0);
  const to = withReplica(state, index, { activation: { ...activation, hold, answer: undefined } });
  return { says: `${identity} learns that its lock is renewed`, to, isUrgent: true };
}

/** A message that needs no answer here. @param after its sender has sent it */
function stepsOfMessage(
  before: LockState,
  after: LockState,
  identity: string,
  what: 'release' | 'store-intents',
  proof: LockProof,
): ReplicaStep[] {
  const says = what === 'release' ? `${identity} ends and releases the lock` : `${identity} stores intents`;
  const steps: ReplicaStep[] = [{ says, to: executed(after, what, proof) }];
  if (before.faultsLeft > 0 && !before.late)
    steps.push({
      says: `${says}, and the message is held up`,
      to: { ...spend(after), late: { what, proof } },
      isFault: true,
    });
  return steps;
}

/** The store executes a message of an activation. */
function executed(
  state: LockState,
  what: NonNullable<LockState['late']>['what'],
  proof: LockProof,
): LockState {
  const { lock, newestOwner } = state;
  if (!isProvenBy(lock, proof)) return state;
  if (proof.owner !== newestOwner)
    return {
      ...state,
      wrong: `The store executes "${what}" of an activation although another has the lock since`,
    };
  if (what === 'renew') return { ...state, lock: renewedLock(lock, 0, DURATION_MS) };
  return what === 'release' ? { ...state, lock: releasedLock(lock) } : state;
}

function deliverLate(state: LockState): Step<LockState>[] {
  if (!state.late) return [];
  const { proof, what } = state.late;
  const to = executed({ ...state, late: undefined }, what, proof);
  return [{ says: `The store gets the late "${what}" of ${proof.owner}`, to }];
}

/** No time passes while a replica has something to do at once. */
function timePasses(state: LockState, own: readonly ReplicaStep[]): Step<LockState>[] {
  const isBusy = own.some(({ isUrgent }) => isUrgent);
  return isBusy ? [] : [{ says: 'Half a second passes', to: passed(state) }];
}

/** @param slow the index of a replica whose clock misses a part of it */
function passed(state: LockState, slow?: number): LockState {
  const [first, second] = state.replicas;
  const { lock } = state;
  return {
    ...state,
    replicas: [older(first, slow === 0), older(second, slow === 1)],
    lock: { ...lock, lockedUntilMs: Math.max(lock.lockedUntilMs - TICK_MS, 0) },
  };
}

function older(replica: Replica, isSlow: boolean): Replica {
  const { activation, granted } = replica;
  const passedMs = isSlow ? TICK_MS - MISSED_MS : TICK_MS;
  const earlier = (ms: number): number => Math.max(ms - passedMs, LONG_AGO);
  return {
    ...replica,
    isSlow: replica.isSlow || isSlow,
    granted: granted && { ...granted, sentAtMs: earlier(granted.sentAtMs) },
    activation: activation && {
      ...activation,
      askedAtMs: earlier(activation.askedAtMs),
      hold: { ...activation.hold, untilMs: earlier(activation.hold.untilMs) },
    },
  };
}

/** Faults of processes, clocks and the store. One has been paid for. */
function faultsOf(state: LockState): Step<LockState>[] {
  const steps: Step<LockState>[] = [];
  const fault = (says: string, to: LockState): number => steps.push({ says, to, isFault: true });
  for (const [index, { activation, identity, isPaused, isSlow }] of state.replicas.entries()) {
    if (!activation) continue;
    fault(`${identity} is killed, and starts again`, withReplica(state, index, newReplica(identity)));
    if (!isPaused) fault(`${identity} is paused`, withReplica(state, index, { isPaused: true }));
    if (!isSlow)
      fault(`Half a second passes, a part of which the clock of ${identity} misses`, passed(state, index));
  }
  const isEmpty = state.newestToken === 0;
  if (!isEmpty) fault('The store loses all data', { ...state, lock: FREE, newestToken: 0, hasLost: true });
  return steps;
}

/** Tokens by their distance from the newest, owners in the order in which they are met, and replicas in either order. */
function fingerprint(state: LockState): string {
  const [first, second] = state.replicas;
  const [one, other] = [encode(state, [first, second]), encode(state, [second, first])];
  return one < other ? one : other;
}

function encode(state: LockState, replicas: readonly Replica[]): string {
  const owners: string[] = [];
  const nameOf = (owner: string): number => {
    const known = owners.indexOf(owner);
    return known >= 0 ? known : owners.push(owner) - 1;
  };
  const ageOf = (token: number): number => Math.max(-3, Math.min(token - state.newestToken, 3));
  const proofOf = ({ owner, token }: LockProof): unknown => [ageOf(token), nameOf(owner)];
  const { faultsLeft, hasLost, late, lock, newestOwner, wrong } = state;
  return JSON.stringify([
    replicas.map(({ activation, granted, isPaused, isSlow }) => [
      activation && [proofOf(activation.proof), activation.hold, activation.askedAtMs, activation.answer],
      granted && [proofOf(granted.proof), granted.sentAtMs],
      isPaused,
      faultsLeft > 0 && isSlow,
    ]),
    [
      lock.token !== undefined && ageOf(lock.token),
      lock.owner !== undefined && nameOf(lock.owner),
      lock.lockedUntilMs,
    ],
    nameOf(newestOwner),
    late && [late.what, proofOf(late.proof)],
    [faultsLeft, hasLost, wrong],
  ]);
}

function spend(state: LockState): LockState {
  return { ...state, faultsLeft: state.faultsLeft - 1 };
}

function withReplica(state: LockState, index: number, change: Partial<Replica>): LockState {
  const [first, second] = state.replicas;
  return index === 0
    ? { ...state, replicas: [{ ...first, ...change }, second] }
    : { ...state, replicas: [first, { ...second, ...change }] };
}
