import type { PlantedBug, WorldBug } from './planted-bug.js';

/** Found by the simulated world. Each is sought with the seeds from 1 on. */
export const WORLD_BUGS: readonly WorldBug[] = [
  {
    name: 'wait-for-own-writes-dropped',
    breaks: 'A sync does not wait until its caches show what the one before it wrote',
    withinSeeds: 12,
    isInGate: true,
    file: 'src/runtime/controller/caught-up.ts',
    from: 'if (behind.length === 0) return',
    to: 'if (behind.length >= 0) return',
  },
  {
    name: 'lease-given-to-all',
    breaks: 'Every replica that asks for the lease leads',
    withinSeeds: 12,
    isInGate: true,
    file: 'src/runtime/leader-election/memory-resource-lock.ts',
    from: "const isFree = holder === '' || holder === identity;",
    to: 'const isFree = holder !== undefined || holder === identity;',
  },
  {
    name: 'change-during-any-run-lost',
    breaks: 'Of a change during a run, no other run follows',
    withinSeeds: 12,
    isInGate: false,
    file: 'src/runtime/work-queue/memory-work-queue.ts',
    from: 'if (next) this.wait(key, next);',
    to: 'if (next) this.pending.delete(key);',
  },
  {
    name: 'unanswered-writes-forgotten',
    breaks: 'Writes without an answer are not asked for before the next decision',
    withinSeeds: 24,
    isInGate: false,
    file: 'src/runtime/controller/controller.ts',
    from: 'if (activation.unanswered.length === 0) return;',
    to: 'if (activation.unanswered.length >= 0) return;',
  },
];

/** A bug that nothing finds, and the reason. */
export interface UnfoundBug extends PlantedBug {
  readonly why: string;
}

/** Not found within the first six seeds. Each is a check, or a fault, that the world should get. */
export const NOT_FOUND_YET: readonly UnfoundBug[] = [
  {
    name: 'intents-not-stored',
    breaks: 'Pods are created without an intent',
    why: 'a replica has to die between the creation of a pod and its answer, on a key that the next one syncs with a cache that lags',
    file: 'src/controllers/replicaset/manage-pods.ts',
    from: 'await context.intents.store(plan.intents);',
    to: 'context.signal.throwIfAborted();',
  },
  {
    name: 'failed-add-dropped',
    breaks: 'An add that fails is not retried',
    why: 'later changes of the same key, and the list of the next leader, add it all the same',
    file: 'src/runtime/controller/enqueuer.ts',
    from: 'this.held.set(key, mergeHeld(this.held.get(key), next));',
    to: 'if (this.held.size < 0) this.held.set(key, mergeHeld(this.held.get(key), next));',
  },
  {
    name: 'work-outlives-its-lease',
    breaks: 'The work of a leader that loses its lease never ends, and the replica never leads again',
    why: 'another replica leads instead, until that one loses its lease as well',
    file: 'src/runtime/leader-election/leader-elector.ts',
    from: 'leading.abort(lost);',
    to: 'leading.signal.throwIfAborted();',
  },
  {
    name: 'retry-ignores-the-signal',
    breaks: 'A former leader waits out its back-off before it stops to retry an add',
    why: 'the back-off is a second at most, and a stop is given a minute',
    file: 'src/runtime/controller/enqueuer.ts',
    from: 'await pause(this.options.clock, backoffMs, signal);',
    to: 'await pause(this.options.clock, backoffMs, new AbortController().signal);',
  },
  {
    name: 'term-not-looked-after',
    breaks: 'A leader does not ask whether its queues have lost their keys',
    why: 'the next add is refused as well, and timers are seldom all that a queue has',
    file: 'src/runtime/activation/leader-term.ts',
    from: 'await abortable(adds.check(), signal);',
    to: 'await abortable(Promise.resolve(adds), signal);',
  },
];
