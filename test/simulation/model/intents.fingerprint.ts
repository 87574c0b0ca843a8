import type { PodIntents } from '../../../src/controllers/replicaset/pod-intents.js';
import type { IntentsState, SyncingReplica } from './intents.state.js';

/**
 * States that differ in nothing but names and numbers have one text: changes that every cache shows are the pods that they
 * left, versions count from there, and names, UIDs and owners are numbered as they are met.
 */
export function intentsFingerprint(state: IntentsState): string {
  const [first, second] = state.replicas;
  const [one, other] = [encode(state, [first, second]), encode(state, [second, first])];
  return one < other ? one : other;
}

function encode(state: IntentsState, replicas: readonly SyncingReplica[]): string {
  const { actor, events, faultsLeft, late, lock } = state;
  const base = Math.min(...replicas.map(({ seen }) => seen));
  const after = (version: number): number => Math.max(version - base, 0);
  const texts: string[] = [];
  const nameOf = (text: string): number => {
    const known = texts.indexOf(text);
    return known >= 0 ? known : texts.push(text) - 1;
  };
  const intentsOf = ({ creates, deletes }: PodIntents): unknown => [
    creates.map(nameOf),
    deletes.map(({ name, uid }) => [nameOf(name), nameOf(uid)]),
  ];
  const shown = new Map<string, unknown>();
  for (const { isGone, isReady, name, uid } of events.slice(0, base))
    if (isGone) shown.delete(name);
    else shown.set(name, [nameOf(name), nameOf(uid), isReady]);
  return JSON.stringify([
    [...shown.values()],
    events.slice(base).map(({ isGone, isReady, name, uid }) => [nameOf(name), nameOf(uid), isGone, isReady]),
    replicas.map(({ seen, sync }) => [
      seen - base,
      sync && [
        nameOf(sync.proof.owner),
        intentsOf(sync.stored),
        sync.plan && [intentsOf(sync.plan.intents), sync.plan.mustStore],
        [sync.hasStored, sync.isBroken],
        sync.creates.map(nameOf),
        sync.deletes.map(({ uid }) => nameOf(uid)),
        sync.unanswered.map(nameOf),
        after(sync.ownWrite),
      ],
    ]),
    [lock.owner !== undefined && nameOf(lock.owner), lock.lockedUntilMs],
    [
      after(Number(actor.ownWrites['pods'] ?? 0)),
      actor.intents !== undefined && intentsOf(actor.intents as PodIntents),
    ],
    late && [
      late.do,
      late.do === 'store'
        ? [nameOf(late.proof.owner), intentsOf(late.intents), after(late.ownWrite)]
        : nameOf(late.name),
      late.do === 'delete' && nameOf(late.uid),
    ],
    faultsLeft,
  ]);
}
