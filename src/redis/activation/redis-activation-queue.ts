import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { SystemRandom, uuidOf } from '@rollkeeper/machinery/clock';
import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import type { LuaCall } from '../connection/index.js';
import type { ActorOptions } from '@rollkeeper/runtime/activation/stored-actor-runtime';
import { compileActorOptions } from '@rollkeeper/runtime/activation/stored-actor-runtime';
import type { AcquiredReply } from './redis-actor-calls.js';
import { RedisActorCalls, parseAcquired } from '../activation/redis-actor-calls.js';
import type { EndOfRun } from '../work-queue/joined-taking.js';
import type { BullMqWorkQueueDependencies, StepAtStart } from '../work-queue/bullmq-work-queue.js';
import { BullMqWorkQueue } from '../work-queue/bullmq-work-queue.js';
import type { LeaderTerm } from '@rollkeeper/runtime/work-queue';
import type { LateRelease } from '@rollkeeper/runtime/activation/activation';
import type { OneStepAdds, StartedLock } from '@rollkeeper/runtime/activation';

/** The dependencies of {@link RedisActivationQueue}. */
export interface RedisActivationQueueDependencies extends Omit<BullMqWorkQueueDependencies, 'atStart'> {
  /** Options of the RedisActorRuntime. */
  actorOptions?: ActorOptions;
}

/**
 * A {@link BullMqWorkQueue} that updates the actors of its keys in the same Redis steps: an add records its causes, and
 * the start of a run acquires the actor's lock. That saves two commands per run and leaves no gap between them. For one
 * Redis server, not for a Cluster.
 */
export class RedisActivationQueue extends BullMqWorkQueue<StartedLock> {
  private readonly steps: RedisActorSteps;

  constructor(dependencies: RedisActivationQueueDependencies) {
    const { actorOptions: options, clock, keyPrefix, name: controller, random } = dependencies;
    const steps = new RedisActorSteps({ controller, keyPrefix, clock, random, options });
    let addAgain = async (_key: string): Promise<void> => undefined;
    super({ ...dependencies, atStart: (key) => steps.acquire(key, (lost) => addAgain(lost)) });
    addAgain = (key) => this.add(key, { reason: 'retry' });
    this.steps = steps;
  }

  override async beginTerm(term: LeaderTerm): Promise<Required<OneStepAdds>> {
    const begun = await super.beginTerm(term);
    const { add } = begun;
    return {
      check: () => begun.check(),
      add: (key, options) => add(key, options),
      addWithCauses: (key, causes, options) => add(key, options, [this.steps.recordCauses(key, causes)]),
    };
  }
}

interface RedisActorStepsDependencies {
  /** The controller that the queue belongs to. */
  controller: string;
  /** The key prefix of the RedisActorRuntime. @default 'rollkeeper' */
  keyPrefix?: string;
  clock: Clock;
  /** For the owners of locks. @default SystemRandom */
  random?: RandomSource;
  options?: ActorOptions;
}

/** The part of a queue's steps that is for the actors of one controller. */
export class RedisActorSteps {
  private readonly calls: RedisActorCalls;
  private readonly lockDurationMs: number;
  private readonly random: RandomSource;

  constructor(private readonly dependencies: RedisActorStepsDependencies) {
    const { keyPrefix = 'rollkeeper', options } = dependencies;
    const compiled = compileActorOptions(options);
    this.calls = new RedisActorCalls(keyPrefix, compiled);
    this.lockDurationMs = compiled.lockDurationMs;
    this.random = dependencies.random ?? new SystemRandom();
  }

  /** Sent with an add. */
  recordCauses(key: string, causes: ResourceVersions): LuaCall {
    return this.calls.recordCauses({ controller: this.dependencies.controller, key }, causes);
  }

  /**
   * Sent with the start of a run; its parsed reply goes to `ActorRuntime.activate`. The lock is released with the end of the run.
   * @param addAgain adds a key whose lock was lost before
   */
  acquire(key: string, addAgain: (key: string) => Promise<void>): StepAtStart<StartedLock> {
    const { clock, controller } = this.dependencies;
    const owner = uuidOf(this.random);
    const sentAtMs = clock.monotonicNow();
    let end: EndOfRun | undefined;
    return {
      call: this.calls.acquire({ controller, key }, owner, this.lockDurationMs),
      read: (reply, takenKey) => {
        const id = { controller, key: takenKey };
        const outcome = parseAcquired(reply as AcquiredReply);
        const releaseLater = (release: LateRelease): void => {
          const call = this.calls.releaseOrFail(id, release.proof, release.state);
          const refused = async (): Promise<void> => {
            await release.refused();
            await addAgain(takenKey);
          };
          end = { call, refused, alone: () => release.alone() };
        };
        return { early: { owner, sentAtMs, outcome, releaseLater } };
      },
      atEnd: () => end,
    };
  }
}
