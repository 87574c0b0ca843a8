import type { ControllerDefinition } from '@rollkeeper/runtime';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { SeededRandom } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { FaultKind, PlannedFault } from './fault-kinds.js';
import { FAULT_KINDS, planFaults } from './fault-kinds.js';
import { Faults } from './faults.js';
import type { StoredChange } from './simulated-api.js';
import type { TraceLine } from './trace.js';
import { World } from './world.js';

/** The objects that the API server has at one revision. */
export interface StoredObjects {
  /** All of a kind, in no order. */
  list<T extends KubernetesObject = KubernetesObject>(kind: ResourceType): readonly DeepReadonly<T>[];
}

/** A user of the simulated cluster, whose requests have the faults of any process. */
export interface SimulatedUser {
  readonly client: ApiClient;
  /** Lets simulated time pass, milliseconds. */
  sleep(this: void, ms: number): Promise<void>;
}

/** The options of {@link simulateOperator}. */
export interface SimulateOperatorOptions {
  /** Decides every delay, order, loss, crash and pause. */
  readonly seed: number;
  /** The controllers of one replica; called for each life of each replica. */
  readonly controllers: () => readonly ControllerDefinition[];
  /** Creates what has to be there before the operator starts, such as the definitions of its kinds. @default nothing */
  readonly before?: (client: ApiClient) => Promise<void>;
  /** The acts of users meanwhile. A request that fails ends it, and is no problem. @default nothing */
  readonly users?: (user: SimulatedUser) => Promise<void>;
  /** A rule for every revision: the problem, or undefined. @default none */
  readonly always?: (objects: StoredObjects) => string | undefined;
  /** A rule for the end, which has to hold within {@link restWithinMs} after the last fault. @default none */
  readonly eventually?: (objects: StoredObjects) => string | undefined;
  /** How long there are faults, simulated milliseconds. @default 20000 */
  readonly troubledMs?: number;
  /** Simulated milliseconds. @default 400000: a key that is parked comes back after 180 s */
  readonly restWithinMs?: number;
  /** The kinds of faults. @default about half of all, chosen by the seed */
  readonly faults?: readonly FaultKind[];
  /** @default 3 */
  readonly replicas?: number;
  /** How many of the last lines of the trace are kept. @default 0 */
  readonly keepTrace?: number;
}

/** A rule that was broken. */
export interface OperatorProblem {
  readonly rule: 'always' | 'eventually' | 'unhandled rejections';
  readonly problem: string;
  /** Simulated milliseconds since the start. */
  readonly atMs: number;
}

/** The outcome of a run. Two runs of the same options are equal in all of it. */
export interface SimulatedOperator {
  readonly seed: number;
  /** The first problem ends the run. */
  readonly problems: readonly OperatorProblem[];
  /** A hash of all that happened: equal runs have equal ones. */
  readonly traceHash: string;
  /** How often each fault happened. */
  readonly faults: Readonly<Record<string, number>>;
  readonly simulatedMs: number;
  readonly trace: readonly TraceLine[];
}

const TROUBLED_MS = 20_000;
const REST_WITHIN_MS = 400_000;
const LOOK_EVERY_MS = 1000;
/** For so long the last rule has to hold, milliseconds. */
const STAYS_MS = 3000;

/**
 * Runs the replicas of an operator through the faults of a seed, in this process and on simulated time: the real manager,
 * caches, queue rules and API server, with a simulated network and store. Meanwhile no other code
 * of the process may use `setImmediate` of `@rollkeeper/machinery`; a second simulation uses it.
 */
export async function simulateOperator(options: SimulateOperatorOptions): Promise<SimulatedOperator> {
  const run = new OperatorRun(options);
  const onRejection = (error: unknown): void => run.found('unhandled rejections', errorMessage(error));
  process.on('unhandledRejection', onRejection);
  try {
    return await run.run();
  } finally {
    process.off('unhandledRejection', onRejection);
    await run.close();
  }
}

class OperatorRun {
  private readonly problems: OperatorProblem[] = [];
  private readonly stored = new Map<string, Map<string, KubernetesObject>>();
  private readonly objects: StoredObjects = {
    list: <T extends KubernetesObject>(kind: ResourceType) =>
      [
        ...(this.stored.get(qualifiedResource(kind))?.values() ?? []),
      ] as unknown as readonly DeepReadonly<T>[],
  };
  private world: World | undefined;

  constructor(private readonly options: SimulateOperatorOptions) {}

  async run(): Promise<SimulatedOperator> {
    const { before, controllers, keepTrace, replicas, seed, troubledMs = TROUBLED_MS } = this.options;
    const onChange = (change: StoredChange): void => this.see(change);
    const world = await World.create({ before, controllers, keepTrace, onChange, replicas, seed });
    this.world = world;
    const faults = new Faults(world);
    const { kernel } = world;
    for (const planned of this.plan(troubledMs))
      kernel.after(planned.atMs - kernel.nowMs, () => faults.make(planned));
    this.letUsersAct(world);
    await this.passUntil(world, troubledMs);
    if (this.problems.length === 0) {
      await world.during(faults.end());
      await this.rest(world);
    }
    return {
      ...{ seed, problems: this.problems, simulatedMs: kernel.nowMs, trace: kernel.trace.lines },
      traceHash: kernel.trace.hash,
      faults: Object.fromEntries([...faults.counts, ...world.network.faults]),
    };
  }

  async close(): Promise<void> {
    if (!this.world) return;
    for (const { process: replica } of this.world.replicas) replica.kill();
    this.world.api.process.resume();
    await this.world.close();
  }

  found(rule: OperatorProblem['rule'], problem: string): void {
    this.problems.push({ rule, problem, atMs: this.world?.kernel.nowMs ?? 0 });
  }

  private plan(untilMs: number): PlannedFault[] {
    const random = new SeededRandom(this.options.seed ^ 0x5eed);
    const ofSeed = FAULT_KINDS.filter(() => random.next() < 0.5);
    const everyMs = 300 + 5000 * random.next() ** 2;
    return planFaults(random, this.options.faults ?? ofSeed, { everyMs, untilMs });
  }

  private letUsersAct(world: World): void {
    const user = world.process('user');
    const client = world.client(user);
    const sleep = (ms: number): Promise<void> => user.clock.sleep(ms);
    void this.options.users?.({ client, sleep }).catch((error: unknown) => {
      world.kernel.note(user.name, user.name, `ends: ${errorMessage(error)}`);
    });
  }

  private see({ deleted, object, resource }: StoredChange): void {
    const { name, namespace = '' } = object.metadata;
    const all = this.stored.get(resource) ?? new Map<string, KubernetesObject>();
    this.stored.set(resource, all);
    if (deleted) all.delete(`${namespace}/${name}`);
    else all.set(`${namespace}/${name}`, object);
    const problem = this.options.always?.(this.objects);
    if (problem !== undefined && this.problems.length === 0) this.found('always', problem);
  }

  private async rest(world: World): Promise<void> {
    const { eventually, restWithinMs = REST_WITHIN_MS } = this.options;
    if (!eventually) return;
    const endMs = world.kernel.nowMs + restWithinMs;
    let sinceMs = Infinity;
    let problem: string | undefined;
    while (
      !(world.kernel.nowMs - sinceMs >= STAYS_MS) &&
      world.kernel.nowMs < endMs &&
      !this.problems.length
    ) {
      await this.passUntil(world, world.kernel.nowMs + LOOK_EVERY_MS);
      problem = eventually(this.objects);
      sinceMs = problem === undefined ? Math.min(sinceMs, world.kernel.nowMs) : Infinity;
    }
    if (problem !== undefined && this.problems.length === 0) this.found('eventually', problem);
  }

  private async passUntil({ kernel }: World, endMs: number): Promise<void> {
    let isThere = false;
    const alarm = kernel.after(endMs - kernel.nowMs, () => (isThere = true));
    await kernel.runWhile(() => isThere || this.problems.length > 0);
    alarm.cancel();
  }
}
