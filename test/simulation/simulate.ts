import { errorMessage } from '../../src/machinery/errors/index.js';
import type { Logger } from '../../src/machinery/logging/index.js';
import type {
  RunningReplica,
  SimulatedProcess,
  StoredQueue,
  TraceLine,
} from '../../src/testing/simulation/index.js';
import { Faults, World } from '../../src/testing/simulation/index.js';
import { RedisStore } from '../../src/testing/simulation/redis/world/redis-store.js';
import { findLostChanges } from '../chaos/checkers/changes.js';
import type { Violation } from '../chaos/checkers/violation.js';
import { ActivationChecks } from './activation-checks.js';
import { coordinationOf, prepareCluster } from './cluster.js';
import type { Examined } from './exams.js';
import { examineLeadership, examineLostQueue } from './exams.js';
import { checkLeftovers, leftByEnded } from './leftovers.js';
import { examineLifetimes } from './lifetimes-exam.js';
import type { Plan } from './plan.js';
import { planOf } from './plan.js';
import type { StoredTable } from './slots/slot-checks.js';
import { SlotChecks } from './slots/slot-checks.js';
import { examineSlots } from './slots/slot-exams.js';
import { namespaceIn } from './slots/slot-namespaces.js';
import { SweepWatch } from './slots/sweep-watch.js';
import { StoreChecks } from './store-checks.js';
import { Surroundings } from './surroundings.js';
import { SimulatedSpans } from './spans.js';
import { Users } from './users.js';
import type { ReplicaPorts } from './versions/door.js';
import { controllersOf } from './versions/door.js';
import type { OtherVersion } from './versions/versions.js';
import { OtherReplicas } from './versions/versions.js';

export interface SimulateOptions {
  /** Decides everything. */
  readonly seed: number;
  /** How long there are faults and users, simulated milliseconds. @default 60000 */
  readonly troubledMs?: number;
  /** The plan for the world. @default the seed's plan */
  readonly plan?: Plan;
  /** Ends the run after so many steps of the kernel, even if nothing was found until then. @default when it is over */
  readonly steps?: number;
  /** How many of the last lines of the trace are kept. @default 0 */
  readonly keepTrace?: number;
  /** Goes on after the first violation. @default false */
  readonly findAll?: boolean;
  /** Replaces the text of a Lua script in a plan that coordinates by Redis: one with a bug. @default as it is */
  readonly scriptText?: (text: string) => string;
  /** The logger of a replica, by its name. @default silent */
  readonly logger?: (name: string) => Logger;
  /** One or two of the replicas are of this version. Not for a plan that coordinates by the store in memory. @default none */
  readonly beside?: OtherVersion;
  /** Keeps the spans of the API server and of the replicas. @default false */
  readonly spans?: boolean;
}

export interface FoundViolation extends Violation {
  /** Simulated milliseconds. */
  readonly atMs: number;
  /** The step of the kernel. */
  readonly step: number;
}

/** The result of a run. Two runs of the same options are equal in all of it. */
export interface SimulationResult {
  readonly seed: number;
  readonly plan: Plan;
  /** A hash of all that happened. */
  readonly traceHash: string;
  readonly violations: readonly FoundViolation[];
  /** How often each fault happened: those of the plan, and those of single messages. */
  readonly faults: Readonly<Record<string, number>>;
  /** The number of faults of all kinds together. */
  readonly faultCount: number;
  /** How many single judgements were made. */
  readonly checks: number;
  readonly users: Readonly<Record<'acknowledged' | 'refused' | 'unknown', number>>;
  readonly steps: number;
  readonly simulatedMs: number;
  readonly trace: readonly TraceLine[];
  /** As OTLP/JSON, if they were asked for. */
  readonly spans?: string;
}

/** After the last fault everything must be at rest within this time, milliseconds: a parked key comes back after 180 s. */
const REST_WITHIN_MS = 400_000;
/** Each of many pods has answered within this time, milliseconds: three of ten requests fail, and the pauses between them grow to 120 s. */
const DRAINED_WITHIN_MS = 1_000_000;
/** The longest that a leader leads without an answer, milliseconds. */
const LEASE_MS = 2500;
/** A replica has ended within this time after it was stopped, milliseconds. */
const STOPS_WITHIN_MS = 60_000;
/** More than there can be. */
const MOST_TIMERS = 1000;
const LOOK_EVERY_MS = 1000;
/** For so long nothing may change any more, milliseconds. */
const STAYS_MS = 5000;

/** These look at each object again, for as long as it exists: at Deployments after an hour, at pods that drain after seconds. */
const LOOKS_AGAIN: readonly string[] = ['admission-drift', 'session-drain'];

/** Runs a whole cluster through the faults of a seed, and judges every step of it. */
export async function simulate(options: SimulateOptions): Promise<SimulationResult> {
  const simulation = await Simulation.create(options);
  try {
    await simulation.run();
    return simulation.result();
  } finally {
    await simulation.close();
  }
}

class Simulation {
  private readonly violations: FoundViolation[] = [];
  private readonly plan: Plan;
  private readonly store: StoreChecks;
  private readonly activations: ActivationChecks;
  private readonly slots: SlotChecks | undefined;
  private readonly sweeps: SweepWatch | undefined;
  /** When they ended, simulated milliseconds; undefined once that has been judged. */
  private readonly ended = new Map<RunningReplica, number | undefined>();
  private readonly others: OtherReplicas | undefined;
  private spans: SimulatedSpans | undefined;
  private world!: World;
  private faults!: Faults;
  private users!: Users;
  private readonly surroundings = new Surroundings();
  private readonly onRejection = (error: unknown): void =>
    this.found({ check: 'unhandled rejections', subject: 'a process', problem: errorMessage(error) });

  private constructor(private readonly options: SimulateOptions) {
    this.plan = options.plan ?? planOf(options.seed, options.troubledMs ?? 60_000);
    const found = (violation: Violation): void => this.found(violation);
    this.store = new StoreChecks(found, {
      isEmpty: this.surroundings.isEmpty,
      isOfUser: (uid) => this.users.deletedPods.has(uid),
    });
    this.activations = new ActivationChecks(
      found,
      (process, controller) => {
        const { manager } = this.world.replicas.find((each) => each.process === process) ?? {};
        const { worksOn } = manager?.controllers.find((each) => each.controller.name === controller) ?? {};
        // The caches of all namespaces, beside those of slots, are the manager's own.
        return this.slots && worksOn !== 'slots' ? [] : (manager?.informers.all() ?? []);
      },
      () => this.world.store.process.clock.now(),
    );
    const { slots } = this.plan;
    if (slots !== undefined) {
      const replicas = (): readonly RunningReplica[] => this.world.replicas;
      const table = (): StoredTable => slotTableOf(this.world);
      this.slots = new SlotChecks({ slots, found, replicas, table });
      this.sweeps = new SweepWatch(found, () => this.world.kernel.nowMs);
    }
    if (options.beside) this.others = new OtherReplicas(options.beside, (process) => this.portsOf(process));
  }

  static async create(options: SimulateOptions): Promise<Simulation> {
    const simulation = new Simulation(options);
    process.on('unhandledRejection', simulation.onRejection);
    const { activations, others, slots, store, surroundings, sweeps } = simulation;
    const { keepTrace, scriptText, seed } = options;
    const logger = sweeps ? (name: string) => sweeps.logger(options.logger?.(name)) : options.logger;
    const { plan } = simulation;
    const isPrepared = (plan.world ?? 'plain') !== 'plain' || plan.slots !== undefined;
    const observe =
      slots && ((request: readonly string[], reply: string) => slots.seeRequest(request, reply));
    simulation.world = await World.create({
      ...{ seed, keepTrace, logger, coordination: coordinationOf(plan, { scriptText, observe }) },
      ...(plan.replicas !== undefined && { replicas: plan.replicas }),
      controllers: (ofReplica) => controllersOf(plan, ofReplica, surroundings.sessionsAt),
      webhooks: surroundings.webhooks,
      ...(isPrepared && { before: (client) => prepareCluster(client, plan) }),
      onChange: (change) => {
        store.see(change, simulation.world?.kernel.nowMs ?? 0);
        surroundings.see(change);
      },
      views: (process) => ({ actors: (actors) => activations.watch(process, actors) }),
      manager: (process) => {
        const { observers, takeover, tracing } = simulation.portsOf(process);
        return {
          ...{ observers, leaderElection: { takeover }, ...(tracing && { tracing }) },
          ...(plan.slots !== undefined && { slots: plan.slots }),
        };
      },
      startReplica: (process, world) => {
        if (options.spans) simulation.spans ??= new SimulatedSpans(world.kernel, world.api.process);
        return others?.start(process, world);
      },
    });
    const { world } = simulation;
    simulation.faults = new Faults(world);
    surroundings.begin(world);
    simulation.users = new Users(world.client(world.process('user')), {
      failPod: (pod) => world.nodes.fail(pod),
      takeGateway: (ms) => surroundings.takeGateway(ms),
      takeMesh: (ms) => surroundings.takeMesh(ms),
      namespaceOf: namespaceIn(plan),
    });
    return simulation;
  }

  async run(): Promise<void> {
    const { faults, plan, users, world } = this;
    const { kernel } = world;
    for (const planned of plan.faults) kernel.after(planned.atMs - kernel.nowMs, () => faults.make(planned));
    for (const planned of plan.acts) kernel.after(planned.atMs - kernel.nowMs, () => void users.act(planned));
    await this.passUntil(plan.troubledMs);
    if (this.isOver) return;
    kernel.note('plan', 'plan', 'no more faults');
    await this.during(faults.end());
    this.slots?.setCalm(true);
    this.sweeps?.begin();
    await this.rest();
    this.slots?.setCalm(false);
    if (!this.isOver && plan.world === 'lifetimes') await this.examineLifetimes();
    if (!this.isOver && this.store.keepsPods) {
      kernel.note('plan', 'plan', 'all sessions end');
      this.surroundings.endSessions();
      await this.rest(DRAINED_WITHIN_MS);
    }
    if (!this.isOver) await this.examine();
    if (!this.isOver) await this.stop();
    if (!this.isOver) this.judgeLeftovers();
  }

  result(): SimulationResult {
    const { activations, faults, options, plan, spans, store, users, violations, world } = this;
    const all = Object.fromEntries([...faults.counts, ...world.network.faults]);
    return {
      ...{ seed: options.seed, plan, violations, faults: all },
      traceHash: world.kernel.trace.hash,
      faultCount: Object.values(all).reduce((sum, count) => sum + count, 0),
      checks: store.checks + activations.checks + (this.slots?.checks ?? 0),
      users: users.counts,
      steps: world.kernel.steps,
      simulatedMs: world.kernel.nowMs,
      trace: world.kernel.trace.lines,
      ...(spans && { spans: spans.asText() }),
    };
  }

  async close(): Promise<void> {
    process.off('unhandledRejection', this.onRejection);
    for (const { process: replica } of this.world.replicas) replica.kill();
    this.world.api.process.resume();
    await this.world.close();
    this.others?.close();
    this.spans?.close();
  }

  private portsOf(process: SimulatedProcess): Omit<ReplicaPorts, 'process' | 'connections' | 'coordination'> {
    const { activations, options, plan } = this;
    const { collectsGarbage, slots, takeover, world } = plan;
    return {
      takeover,
      plan: { collectsGarbage, world, policies: world === 'policies', ...(slots !== undefined && { slots }) },
      actorsView: (actors) => activations.watch(process, actors),
      observers: [activations.observer(process)],
      sessionsAt: this.surroundings.sessionsAt,
      ...(options.logger && { logger: options.logger(process.name) }),
      ...(this.spans && { tracing: this.spans.tracingOf(process) }),
    };
  }

  private get isOver(): boolean {
    const { findAll = false, steps = Infinity } = this.options;
    return this.world.kernel.steps >= steps || (!findAll && this.violations.length > 0);
  }

  private async passUntil(endMs: number): Promise<void> {
    const { kernel } = this.world;
    let isThere = false;
    const alarm = kernel.after(endMs - kernel.nowMs, () => (isThere = true));
    await kernel.runWhile(() => {
      this.judgeStep();
      return isThere || this.isOver;
    });
    alarm.cancel();
  }

  /** Lets time pass until a promise has settled, and judges every step of it. */
  private during<T>(work: Promise<T>): Promise<T> {
    return this.world.during(work, () => this.judgeStep());
  }

  /** Until everything is at rest and stays so, in bounded time. */
  private async rest(withinMs = REST_WITHIN_MS): Promise<void> {
    const { users } = this;
    const { kernel } = this.world;
    const endMs = kernel.nowMs + withinMs;
    let quietSinceMs = Infinity;
    let isAtRest = false;
    while (kernel.nowMs < endMs && !isAtRest && !this.isOver) {
      await this.passUntil(kernel.nowMs + LOOK_EVERY_MS);
      const isSettled = await this.during(users.settle());
      const isQuiet = isSettled && (await this.unrest()).length === 0;
      if (!isQuiet) quietSinceMs = Infinity;
      else quietSinceMs = Math.min(quietSinceMs, kernel.nowMs);
      isAtRest = kernel.nowMs - quietSinceMs >= STAYS_MS;
    }
    if (this.isOver) return;
    const problems = await this.unrest();
    if (!isAtRest && problems.length === 0)
      problems.push(`it is at rest, but has not been for ${STAYS_MS} ms`);
    for (const problem of problems) this.found({ check: 'rest', subject: 'the cluster', problem });
    for (const violation of findLostChanges(users.last(), this.store.replay)) this.found(violation);
  }

  private async unrest(): Promise<string[]> {
    const queues = await Promise.all(
      this.queues().map(async (queue) => {
        const { active, parked, waiting } = await queue.counts();
        const { delayed: timers } = await queue.inspect(MOST_TIMERS);
        // A Deployment that was deleted in the middle of a rollout leaves the timer of its deadline.
        const delayed = timers.filter(({ key }) => !this.store.mayWait(queue.name, key)).length;
        return active + delayed + parked + waiting === 0
          ? []
          : [
              `queue ${queue.name}: ${waiting} waiting, ${active} active, ${delayed} delayed, ${parked} parked`,
            ];
      }),
    );
    const leaders = this.world.replicas.filter(({ manager }) => manager.isLeader).length;
    const ended = this.world.replicas.filter(({ hasEnded }) => hasEnded);
    return [
      ...this.store.unrest(),
      ...(this.slots?.unrest() ?? []),
      ...queues.flat(),
      ...(leaders === 1 ? [] : [`${leaders} replicas lead`]),
      ...ended.map(({ failure, process }) => `${process.name} has ended: ${errorMessage(failure)}`),
    ];
  }

  /** The queues of the store, and those of slots; if there are none, those in the memory of the leader. */
  private queues(): readonly StoredQueue['queue'][] {
    const { replicas, store } = this.world;
    const stored = store.queues.map(({ queue }) => queue);
    if (this.slots) {
      const all = replicas.flatMap(({ manager }) => manager.controllers);
      return [...stored, ...all.flatMap(({ queue, worksOn }) => (worksOn === 'slots' ? [queue] : []))];
    }
    if (this.plan.coordination !== 'leases') return stored;
    const leader = replicas.find(({ manager }) => manager.isLeader);
    const queues = leader?.manager.controllers.map(({ queue }) => queue) ?? [];
    return queues.filter(({ name }) => !LOOKS_AGAIN.includes(name));
  }

  /** Examines whether the replicas that have come through all faults still do their work. */
  private async examine(): Promise<void> {
    const { options, plan, world } = this;
    const found = (violation: Violation): void => this.found(violation);
    const examined = {
      ...{ world, found, passUntil: (endMs: number) => this.passUntil(endMs) },
      during: <T>(work: Promise<T>) => this.during(work),
      isOver: () => this.isOver,
    };
    const which = world.kernel.randomOf('exam').next();
    world.kernel.note('plan', 'plan', `exams of seed ${options.seed}`);
    if (plan.coordination !== 'leases') await examineLostQueue(examined, which);
    if (!this.isOver) await this.examineSlots(examined);
    if (!this.isOver) await examineLeadership(examined);
    if (!this.isOver && this.slots) await this.restAgain(this.slots);
  }

  private async examineLifetimes(): Promise<void> {
    const { surroundings, users } = this;
    this.world.kernel.note('plan', 'plan', 'all sessions last');
    await examineLifetimes({
      act: (planned) => (this.isOver ? Promise.resolve() : this.during(users.act(planned))),
      pass: (ms) => this.passUntil(this.world.kernel.nowMs + ms),
      rest: () => (this.isOver ? Promise.resolve() : this.rest()),
      holdSessions: () => surroundings.holdSessions(),
    });
  }

  private async examineSlots(examined: Examined): Promise<void> {
    const { slots, store, users, world } = this;
    if (!slots) return;
    const random = world.kernel.randomOf('exam of slots');
    await examineSlots({
      ...{ ...examined, slots, dice: [random.next(), random.next()] },
      deployments: () => store.replay.deployments.values(),
      changeAll: () => {
        for (const { name, wish } of users.last()) {
          const size = (wish?.replicas ?? 0) > 0 ? 0 : 0.99;
          if (wish) void users.act({ act: 'scale', atMs: 0, name, dice: [size, 0, 0, 0] });
        }
      },
    });
    if (!this.isOver) await this.rest();
  }

  /** The replicas that were paused in an exam come to rest with the others. */
  private async restAgain(slots: SlotChecks): Promise<void> {
    slots.setCalm(true);
    await this.rest();
    slots.setCalm(false);
  }

  /** Stops everything, and leaves it time to end. */
  private async stop(): Promise<void> {
    const { kernel, replicas } = this.world;
    for (const replica of replicas) replica.stop();
    const endMs = kernel.nowMs + STOPS_WITHIN_MS;
    while (kernel.nowMs < endMs && !this.isOver && replicas.some(({ hasEnded }) => !hasEnded))
      await this.passUntil(kernel.nowMs + LOOK_EVERY_MS);
    await this.passUntil(kernel.nowMs + (this.world.store.lingersMs ?? 0));
  }

  private judgeLeftovers(): void {
    const { replicas, store } = this.world;
    for (const violation of checkLeftovers(replicas, store, this.store)) this.found(violation);
  }

  private judgeStep(): void {
    this.judgeLeaders();
    this.slots?.judge(this.world.kernel.nowMs);
    for (const replica of this.world.replicas) {
      if (!replica.hasEnded) continue;
      const { nowMs } = this.world.kernel;
      const endedAtMs = this.ended.has(replica) ? this.ended.get(replica) : nowMs;
      this.ended.set(replica, endedAtMs);
      if (endedAtMs === undefined || nowMs - endedAtMs < (this.world.store.lingersMs ?? 0)) continue;
      this.ended.set(replica, undefined);
      for (const violation of leftByEnded(replica)) this.found(violation);
    }
  }

  /** A leader that is paused, or that has died, does not know what came after it. */
  private judgeLeaders(): void {
    let count = 0;
    for (const replica of this.world.replicas) if (leadsNow(replica)) count += 1;
    if (count < 2) return;
    // Without its lease, a leader leads until it has to renew: the terms of the queues let only one of two add.
    const isExcused =
      this.plan.coordination !== 'leases' && this.world.kernel.nowMs - this.faults.lostLeaseAtMs < LEASE_MS;
    if (isExcused) return;
    const names = this.world.replicas.filter(leadsNow).map(({ process }) => process.name);
    this.found({
      ...{ check: 'one leader', subject: 'lease', problem: `${names.join(' and ')} lead together` },
    });
  }

  private found(violation: Violation): void {
    const { nowMs, steps } = this.world.kernel;
    this.world.kernel.note('checks', 'checks', `${violation.check}: ${violation.problem}`);
    this.violations.push({ ...violation, atMs: nowMs, step: steps });
  }
}

/** Read as it is stored: only a simulated Redis has one. */
function slotTableOf({ store }: World): StoredTable {
  return store instanceof RedisStore ? store.slotTable : new Map();
}

function leadsNow({ manager, process }: RunningReplica): boolean {
  return process.state === 'running' && manager.isLeader;
}
