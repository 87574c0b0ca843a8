import { FakeClock } from '../../../src/machinery/clock/fake-clock.js';
import type { Pod, ReplicaSet } from '../../../src/machinery/kubernetes/index.js';
import { isPodActive } from '../../../src/machinery/kubernetes/index.js';
import type { FinalState } from '../../../src/runtime/activation/actor-store.js';
import {
  acquiredLock,
  isProvenBy,
  lockedForMs,
  mustHaveSeenOf,
  releasedLock,
  stateAfterRelease,
  stateWithIntents,
} from '../../../src/runtime/activation/stored-lock.js';
import type { PodPlan } from '../../../src/controllers/replicaset/decide-pods.js';
import { decidePods } from '../../../src/controllers/replicaset/decide-pods.js';
import {
  decideFromIntents,
  isEmptyIntents,
  parsePodIntents,
} from '../../../src/controllers/replicaset/pod-intents.js';
import { compileReplicaSetControllerOptions } from '../../../src/controllers/replicaset/replicaset.options.js';
import { openIntents, shownAt, situationOf } from '../../../src/controllers/replicaset/resolve-intents.js';
import { aReplicaSet } from '../../../src/testing/replicaset-harness.js';
import { aPod } from '../../../src/testing/pod-builder.js';
import type { Model, Step } from './explorer.js';
import { intentsFingerprint } from './intents.fingerprint.js';
import type { Effect, IntentsState, PodEvent, Sync, SyncingReplica } from './intents.state.js';

/*
 * One ReplicaSet, the API server with its pods, the stored state of the key, and two replicas, each with a cache that
 * shows the server's changes some time later. A sync is a series of effects; a fault may hit each. The steps are those of
 * the product: `parsePodIntents`, `decideFromIntents`, `situationOf`, `decidePods` and `openIntents` of the ReplicaSets'
 * controller, and the lock and state of an actor (`stored-lock.ts`).
 */

const UID = 'uid-web';
const PODS = 'pods';
const OPTIONS = compileReplicaSetControllerOptions();
const CLOCK = new FakeClock();

/** @param before the names of the pods that run already */
export function intentsModel(faults: number, before: readonly string[] = []): Model<IntentsState> {
  const desired = 1;
  const replicaSet = { ...aReplicaSet({ replicas: desired }) };
  replicaSet.metadata = { ...replicaSet.metadata, uid: UID };
  const limits = { most: Math.max(desired, before.length), least: Math.min(desired, before.length) };
  const initial: IntentsState = {
    events: before.map((name) => ({ name, uid: `uid-${name}`, isGone: false, isReady: true })),
    replicas: [newReplica('A', before.length), newReplica('B', before.length)],
    lock: { token: undefined, owner: undefined, lockedUntilMs: 0 },
    actor: { version: 1, ownWrites: {}, intents: undefined },
    ...{ activations: 0, late: undefined, faultsLeft: faults },
  };
  return {
    name: 'intents',
    initial,
    steps: (state) => [...[0, 1].flatMap((index) => stepsOf(state, index, replicaSet)), ...outside(state)],
    fingerprint: intentsFingerprint,
    violation: (state) => {
      const { length } = podsAt(state.events, state.events.length);
      if (length > limits.most)
        return `There are ${length} pods, and never more than ${limits.most} were wanted`;
      return length < limits.least
        ? `There are ${length} pods, and never fewer than ${limits.least} were wanted`
        : undefined;
    },
    goal: {
      says: 'the wanted pods run, no intent is open and the key is free',
      isReached: ({ actor, events, lock }) =>
        podsAt(events, events.length).length === desired &&
        actor.intents === undefined &&
        lock.owner === undefined,
    },
  };
}

function newReplica(identity: string, seen: number): SyncingReplica {
  return { identity, seen, sync: undefined };
}

/** The pods after so many events. */
function podsAt(events: readonly PodEvent[], count: number): Pod[] {
  const pods = new Map<string, Pod>();
  for (const [index, { isGone, isReady, name, uid }] of events.slice(0, count).entries()) {
    if (isGone) pods.delete(name);
    else
      pods.set(
        name,
        aPod({
          name,
          uid,
          ownerUid: UID,
          resourceVersion: String(index + 1),
          ...(isReady && { readySince: READY_SINCE }),
        }),
      );
  }
  return [...pods.values()];
}

const READY_SINCE = '2026-01-01T00:00:00Z';

function stepsOf(state: IntentsState, index: number, replicaSet: ReplicaSet): Step<IntentsState>[] {
  const replica = state.replicas[index] as SyncingReplica;
  const { identity, seen, sync } = replica;
  const steps: Step<IntentsState>[] = [];
  if (seen < state.events.length)
    steps.push({
      says: `The cache of ${identity} shows the next change`,
      to: withReplica(state, index, { seen: seen + 1 }),
    });
  if (!sync) return [...steps, ...stepsOfAcquisition(state, index)];
  if (!sync.plan) return [...steps, ...stepsOfDecision(state, index, sync, replicaSet)];
  const effect = nextEffect(sync, sync.plan);
  if (!effect) return [...steps, stepOfRelease(state, index, sync)];
  return [...steps, ...stepsOfEffect(state, index, sync, effect)];
}

function stepsOfAcquisition(state: IntentsState, index: number): Step<IntentsState>[] {
  if (lockedForMs(state.lock, 0) > 0) return [];
  const { identity } = state.replicas[index] as SyncingReplica;
  const owner = `${identity}-${state.activations}`;
  const lock = acquiredLock(state.activations, owner, 0, 1);
  const stored = parsePodIntents(state.actor.intents, UID);
  const sync: Sync = {
    ...{ proof: { token: lock.token, owner }, stored, plan: undefined, hasStored: false },
    ...{ creates: [], deletes: [], unanswered: [], ownWrite: 0, isBroken: false },
  };
  const to = withReplica({ ...state, lock, activations: state.activations + 1 }, index, { sync });
  return [{ says: `${identity} begins a sync`, to }];
}

/** Once the cache shows what the key's last activations have written. The server is asked about what it does not show. */
function stepsOfDecision(
  state: IntentsState,
  index: number,
  sync: Sync,
  replicaSet: ReplicaSet,
): Step<IntentsState>[] {
  const { identity, seen } = state.replicas[index] as SyncingReplica;
  const mustHaveSeen = Number(mustHaveSeenOf({}, state.actor)[PODS] ?? 0);
  if (seen < mustHaveSeen) return [];
  const cached = podsAt(state.events, seen);
  const served = podsAt(state.events, state.events.length);
  const find = (pods: readonly Pod[], name: string): Pod | undefined =>
    pods.find(({ metadata }) => metadata.name === name);
  const claimed = { active: cached.filter((pod) => isPodActive(pod)), controlled: cached, terminating: [] };
  const decision = decideFromIntents({
    intents: sync.stored,
    desired: replicaSet.spec.replicas ?? 1,
    cachedActive: claimed.active,
    cachedPod: (name) => find(cached, name),
    confirmedDeletes: new Set(),
  });
  const created = decision.probeCreates.map((name) => find(served, name));
  const doomed = decision.probeDeletes.map(({ name }) => find(served, name));
  const { absence, pods } = decision.settledBy;
  const settledAt = shownAt([...pods, ...created], absence ? String(seen) : undefined);
  const situation = situationOf(claimed, sync.stored, decision, { created, doomed });
  const { plan } = decidePods(replicaSet, situation, {
    ...{ clock: CLOCK, options: OPTIONS, random: namesFrom(state.activations) },
    replicaSets: { get: () => replicaSet, list: () => [replicaSet], byIndex: () => [] },
    pods: {
      get: (key) => find(cached, key.replace('default/', '')),
      list: () => cached,
      byIndex: () => cached,
    },
  });
  const isEmpty = isEmptyIntents(plan.intents);
  const decided: Sync = {
    ...{ ...sync, plan, hasStored: isEmpty || !plan.mustStore },
    ...{ creates: plan.creates, deletes: plan.deletes, ownWrite: Number(settledAt ?? 0) },
  };
  const says = `${identity} decides to create ${plan.creates.length} and to delete ${plan.deletes.length} pods`;
  return [{ says, to: withReplica(state, index, { sync: decided }) }];
}

/** Names that no other activation chooses. */
function namesFrom(activation: number): { next(): number } {
  let digit = 0;
  return { next: () => ((activation >> (4 * digit++)) & 15) / 26 };
}

/** The intents first, then what they announce. */
function nextEffect(sync: Sync, plan: PodPlan): Effect | undefined {
  const { creates, deletes, hasStored, ownWrite, proof } = sync;
  if (!hasStored) return { do: 'store', proof, intents: plan.intents, ownWrite };
  const [name] = creates;
  if (name !== undefined) return { do: 'create', name };
  const [doomed] = deletes;
  return doomed && { do: 'delete', ...doomed };
}

function stepsOfEffect(state: IntentsState, index: number, sync: Sync, effect: Effect): Step<IntentsState>[] {
  const { identity } = state.replicas[index] as SyncingReplica;
  const says = `${identity} ${sentenceOf(effect)}`;
  const after = executed(state, effect);
  const isOurs = effect.do !== 'store' || isProvenBy(state.lock, effect.proof);
  const answered = isOurs ? answeredSync(sync, effect, after.events.length) : undefined;
  const steps: Step<IntentsState>[] = [{ says, to: withReplica(after, index, { sync: answered }) }];
  if (state.faultsLeft === 0) return steps;
  const spent = { faultsLeft: state.faultsLeft - 1 };
  const dead = { sync: undefined };
  const failed = { sync: failedSync(sync, effect) };
  const fault = (what: string, from: IntentsState, replica: Partial<SyncingReplica>): number =>
    steps.push({
      says: `${says}, and ${what}`,
      to: withReplica({ ...from, ...spent }, index, replica),
      isFault: true,
    });
  fault('the request is lost', state, failed);
  fault('the answer is lost', after, failed);
  fault('is killed before it arrives', state, dead);
  fault('is killed before the answer', after, dead);
  if (!state.late) fault('is killed while the request is held up', { ...state, late: effect }, dead);
  return steps;
}

function sentenceOf(effect: Effect): string {
  if (effect.do === 'store') return 'stores its intents';
  return `${effect.do}s the pod ${effect.name}`;
}

function answeredSync(sync: Sync, effect: Effect, version: number): Sync {
  if (effect.do === 'store') return { ...sync, hasStored: true, stored: effect.intents };
  if (effect.do === 'delete') return { ...sync, deletes: sync.deletes.slice(1) };
  return { ...sync, creates: sync.creates.slice(1), ownWrite: Math.max(sync.ownWrite, version) };
}

/** Without an answer: no decision follows, and the intents stay open. */
function failedSync(sync: Sync, effect: Effect): Sync {
  if (effect.do === 'create')
    return { ...sync, creates: sync.creates.slice(1), unanswered: [...sync.unanswered, effect.name] };
  if (effect.do === 'delete') return { ...sync, deletes: sync.deletes.slice(1) };
  return { ...sync, hasStored: true, isBroken: true, creates: [], deletes: [] };
}

/** The server, or the store of the actors, executes an effect. */
function executed(state: IntentsState, effect: Effect): IntentsState {
  const { actor, events, lock } = state;
  if (effect.do === 'store') {
    if (!isProvenBy(lock, effect.proof)) return state;
    return { ...state, actor: stateWithIntents(actor, effect.intents, versions(effect.ownWrite)) };
  }
  const existing = podsAt(events, events.length).find(({ metadata }) => metadata.name === effect.name);
  if (effect.do === 'create') {
    if (existing) return state;
    const uid = `uid-${effect.name}-${events.length}`;
    return { ...state, events: [...events, { name: effect.name, uid, isGone: false, isReady: true }] };
  }
  if (existing?.metadata.uid !== effect.uid) return state;
  return {
    ...state,
    events: [...events, { name: effect.name, uid: effect.uid, isGone: true, isReady: false }],
  };
}

function versions(ownWrite: number): Record<string, string> {
  return ownWrite > 0 ? { [PODS]: String(ownWrite) } : {};
}

/** `PodManager.act` to its end, and the release of the key. */
function stepOfRelease(state: IntentsState, index: number, sync: Sync): Step<IntentsState> {
  const { identity } = state.replicas[index] as SyncingReplica;
  const { actor, lock } = state;
  const to = withReplica(state, index, { sync: undefined });
  const says = `${identity} ends its sync`;
  if (!isProvenBy(lock, sync.proof)) return { says, to };
  const { intents } = sync.plan ?? { intents: sync.stored };
  const acted = { unanswered: sync.unanswered, refused: [] };
  const open = sync.isBroken ? intents : openIntents(intents, acted);
  const final: FinalState = {
    ...{ ownWrites: versions(sync.ownWrite), clearIntents: !sync.isBroken && isEmptyIntents(open) },
    ...{ unanswered: [], settled: [], isSettled: true, isInterruptionSettled: false },
  };
  const released = stateAfterRelease(actor, final);
  const isLess =
    open.creates.length !== intents.creates.length || open.deletes.length !== intents.deletes.length;
  const kept = !final.clearIntents && isLess ? stateWithIntents(released, open, {}) : released;
  return { says, to: { ...to, actor: kept, lock: releasedLock(lock) } };
}

/** The lock of a killed process expires, late effects arrive, and pods change. */
function outside(state: IntentsState): Step<IntentsState>[] {
  const { events, late, lock, replicas } = state;
  const steps: Step<IntentsState>[] = [];
  const holder = replicas.find(({ sync }) => sync?.proof.owner === lock.owner);
  if (lock.owner !== undefined && lock.lockedUntilMs > 0 && !holder)
    steps.push({
      says: 'The lock of the killed sync expires',
      to: { ...state, lock: { ...lock, lockedUntilMs: 0 } },
    });
  if (late)
    steps.push({
      says: `The late request arrives, which ${sentenceOf(late)}`,
      to: executed({ ...state, late: undefined }, late),
    });
  if (state.faultsLeft > 0)
    for (const pod of podsAt(events, events.length)) {
      const { name, uid = '' } = pod.metadata;
      if (pod.status?.conditions === undefined) continue;
      const event = { name, uid, isGone: false, isReady: false };
      steps.push({
        says: `The pod ${name} is not ready any more`,
        to: { ...state, faultsLeft: state.faultsLeft - 1, events: [...events, event] },
        isFault: true,
      });
    }
  return steps;
}

function withReplica(state: IntentsState, index: number, change: Partial<SyncingReplica>): IntentsState {
  const [first, second] = state.replicas;
  return index === 0
    ? { ...state, replicas: [{ ...first, ...change }, second] }
    : { ...state, replicas: [first, { ...second, ...change }] };
}
