import type { FaultKind, PlannedFault } from './fault-kinds.js';
import { STORM } from './fault-kinds.js';
import type { Weather } from './network.js';
import type { SimulatedProcess } from './process.js';
import type { World } from './world.js';

/** A watch is held for no longer than a silent one is noticed, milliseconds. */
const MOST_HELD_MS = 20_000;
const MINUTE_MS = 60_000;
/** A replica that leaves for a while comes back after this time, milliseconds. */
const AWAY_MS = [2000, 20_000] as const;
/** No replica joins these. */
const MOST_REPLICAS = 5;
const CREATION = /\/pods$/;

/** The effects of these are counted in their place: each message, watch, answer and write that they strike. */
const COUNTED_BY_EFFECT: ReadonlySet<FaultKind> = new Set([
  ...([
    STORM,
    'messages are lost',
    'messages are doubled',
    'messages are late',
    'connections break',
  ] as const),
  ...(['watches are cut', 'watches fall silent', 'watches expire', 'watches are held'] as const),
  ...(['the store is full', 'the API server refuses', 'the API server fails after the effect'] as const),
]);

/** Makes the faults of a plan in a world. */
export class Faults {
  /** How many of each kind were made, beside those whose effects the network counts. */
  readonly counts = new Map<FaultKind, number>();
  /** A replica that dies at one of its next requests: before that leaves it, or after it took effect. */
  private doomed:
    { readonly process: SimulatedProcess; readonly when: 'before' | 'after'; left: number } | undefined;
  /** The replica that creates a pod next dies of it, and for a while the others see nothing. */
  private unseenCreation: { readonly lateMs: number; by?: SimulatedProcess } | undefined;
  private rememberedStore: (() => void) | undefined;
  /** The faults of networks that are on. */
  private readonly weathers = new Map<string, Partial<Weather>>();
  /** When the store last lost the lease, or ended it too early, simulated milliseconds. */
  lostLeaseAtMs = -Infinity;
  /** Ends the jumps of wall clocks: with one that is behind, a pod is not available before its time. */
  private readonly setRight: (() => void)[] = [];
  private isOver = false;

  constructor(private readonly world: World) {
    world.network.onEffect = (process, when, what) => {
      this.atEffect(process, when);
      this.atCreation(process, when, what);
    };
  }

  make({ dice, fault }: PlannedFault): void {
    if (this.isOver) return;
    const { kernel } = this.world;
    if (!COUNTED_BY_EFFECT.has(fault)) this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    kernel.note('plan', 'plan', `fault: ${fault}`);
    const { [fault]: begin } = this.kinds;
    begin(dice);
  }

  /** Called around each effect of a replica, at the API server or in the store. */
  private atEffect(process: SimulatedProcess, when: 'before' | 'after'): void {
    const { doomed } = this;
    if (doomed?.process !== process || doomed.when !== when || --doomed.left > 0) return;
    this.doomed = undefined;
    this.killed(process, 2000);
  }

  /** A replica dies at its creation, and the one that continues its work knows nothing of it. */
  private atCreation(process: SimulatedProcess, when: 'before' | 'after', what: string): void {
    const { unseenCreation: unseen } = this;
    const { replicas } = this.world;
    if (!unseen || !CREATION.test(what) || !replicas.some((replica) => replica.process === process)) return;
    if (unseen.by === undefined && when === 'before') {
      unseen.by = process;
      for (const { process: other } of replicas)
        if (other !== process) this.world.apiNetwork.disturbWatches(other, 'held', unseen.lateMs);
    } else if (unseen.by === process && when === 'after') {
      this.unseenCreation = undefined;
      this.killed(process, unseen.lateMs);
    }
  }

  /** Ends every fault. Replicas that are dead are started again. */
  async end(): Promise<void> {
    this.isOver = true;
    this.doomed = undefined;
    this.unseenCreation = undefined;
    const { api, apiNetwork, network, replicas, store } = this.world;
    network.clear();
    for (const undo of this.setRight) undo();
    apiNetwork.trouble = { refused: 0, failedAfter: 0 };
    store.full = 0;
    store.heal?.();
    for (const process of [api.process, store.process, ...replicas.map((replica) => replica.process)])
      process.resume();
    for (const [index, replica] of replicas.entries())
      if (!replica.process.isAlive || replica.hasEnded) await this.world.startReplica(index);
  }

  private readonly kinds: Readonly<Record<FaultKind, (dice: PlannedFault['dice']) => void>> = {
    'messages are lost': (dice) => this.weather(dice, { lost: 0.02 + 0.4 * dice[3] ** 2 }),
    'messages are doubled': (dice) => this.weather(dice, { doubled: 0.1 + 0.8 * dice[3] }),
    'messages are late': (dice) => this.weather(dice, { late: dice[3], lateMs: 20 + 4000 * dice[3] ** 3 }),
    'connections break': (dice) => this.weather(dice, { broken: 0.02 + 0.5 * dice[3] ** 2 }),
    'a replica is killed': ([which, , , down]) => this.killed(this.replica(which), 200 + 8000 * down ** 2),
    'a replica dies at an effect': ([which, when, , later]) => {
      const process = this.replica(which);
      this.doomed = { process, when: when < 0.5 ? 'before' : 'after', left: 1 + Math.floor(40 * later ** 2) };
    },
    'a replica dies at a creation that others see late': ([, , , long]) => {
      this.unseenCreation = { lateMs: MOST_HELD_MS * (0.25 + 0.75 * long) };
    },
    'a replica is paused': ([which, , , long]) =>
      this.paused(this.replica(which), 500 + MINUTE_MS * long ** 4),
    'a replica is restarted': ([which]) => this.stopped(which),
    'a replica joins': () => {
      const { length } = this.world.replicas;
      if (length < MOST_REPLICAS) void this.world.startReplica(length);
    },
    'a replica leaves for a while': ([which, , , long]) => {
      const [least, most] = AWAY_MS;
      this.stopped(which, least + (most - least) * long);
    },
    'the store is paused': ([, , , long]) => this.paused(this.world.store.process, 300 + 8000 * long ** 2),
    'the store loses its queues': () => {
      this.lostLeaseAtMs = this.world.kernel.nowMs;
      this.world.store.loseQueues();
    },
    'the store loses one queue': ([which]) => void this.world.store.loseQueue(which),
    'the store is full': ([, long, , chance]) => {
      this.world.store.full = 0.2 + 0.8 * chance;
      this.later(300 + 5000 * long, () => (this.world.store.full = 0));
    },
    'the store goes back': () => {
      const { kernel, store } = this.world;
      this.lostLeaseAtMs = kernel.nowMs;
      this.rememberedStore?.();
      this.rememberedStore = store.remember();
    },
    'the store is restarted': (dice) => void this.world.store.disturb?.('the store is restarted', dice),
    'the store loses its scripts': (dice) =>
      void this.world.store.disturb?.('the store loses its scripts', dice),
    'the store loses its last writes': (dice) => {
      const { kernel, store } = this.world;
      const inMs = store.disturb?.('the store loses its last writes', dice) ?? 0;
      kernel.after(inMs, () => (this.lostLeaseAtMs = kernel.nowMs));
    },
    'connections to the store are half open': (dice) =>
      void this.world.store.disturb?.('connections to the store are half open', dice),
    'the API server is paused': ([, , , long]) =>
      this.paused(this.world.api.process, 300 + 20_000 * long ** 3),
    'the API server refuses': ([, long, , chance]) => {
      this.world.apiNetwork.trouble = { ...this.world.apiNetwork.trouble, refused: 0.02 + 0.4 * chance };
      this.later(200 + 5000 * long, () => (this.world.apiNetwork.trouble.refused = 0));
    },
    'the API server fails after the effect': ([, long, , chance]) => {
      this.world.apiNetwork.trouble = { ...this.world.apiNetwork.trouble, failedAfter: 0.05 + 0.5 * chance };
      this.later(200 + 5000 * long, () => (this.world.apiNetwork.trouble.failedAfter = 0));
    },
    'a wall clock jumps': ([which, way, , far]) => {
      const { api, replicas, store } = this.world;
      const processes = [...replicas.map((replica) => replica.process), store.process, api.process];
      const process = processes[Math.floor(which * processes.length)]!;
      const ms = (way < 0.5 ? -1 : 1) * 30 * MINUTE_MS * far ** 3;
      this.jump(process, ms);
      this.setRight.push(() => this.jump(process, -ms));
    },
    'watches are cut': ([which]) => this.watches(which, 'cut'),
    'watches fall silent': ([which]) => this.watches(which, 'silent'),
    'watches expire': ([which]) => this.watches(which, 'expired'),
    'watches are held': ([which, , , long]) => this.watches(which, 'held', MOST_HELD_MS * long),
    [STORM]: ([lost, doubled, late, lateness]) =>
      this.world.network.setEverywhere({
        ...{ lost: 0.06 * lost ** 3, broken: 0.06 * (1 - lost) ** 3, doubled: 0.2 + 0.7 * doubled },
        ...{ late: 0.6 + 0.38 * late, lateMs: 2 + 600 * lateness ** 4 },
      }),
  };

  /** A Redis judges its lease by its wall clock: one that goes forward ends the lease while its holder still leads. */
  private jump(process: SimulatedProcess, ms: number): void {
    const { kernel, store } = this.world;
    process.clock.jumpWallClock(ms);
    if (ms > 0 && process === store.process && store.redis) this.lostLeaseAtMs = kernel.nowMs;
  }

  /** Sets how messages from and to one process fare, for a while. */
  private weather([which, long, whose]: PlannedFault['dice'], weather: Partial<Weather>): void {
    const { api, network, store } = this.world;
    const one = [store.process, api.process, this.replica(which)];
    const { name } = one[Math.floor(whose * one.length)]!;
    const together = { ...this.weathers.get(name), ...weather };
    this.weathers.set(name, together);
    network.set(name, together);
    this.later(300 + 6000 * long, () => {
      this.weathers.delete(name);
      network.set(name, {});
    });
  }

  private killed(process: SimulatedProcess, downMs: number): void {
    const index = this.world.replicas.findIndex((replica) => replica.process === process);
    this.world.kernel.note(process.name, process.name, 'killed');
    process.kill();
    // One that has ended, and in whose place another runs, may still have had a message on its way.
    if (index >= 0) this.later(downMs, () => this.restart(index));
  }

  /** @param awayMs it stays away for so long once it has ended */
  private stopped(which: number, awayMs = 0): void {
    const index = this.world.replicas.findIndex(({ process }) => process === this.replica(which));
    const replica = this.world.replicas[index]!;
    replica.stop();
    const restartOnceEnded = (): void => {
      if (this.world.replicas[index] !== replica) return;
      const isOver = replica.hasEnded || !replica.process.isAlive;
      if (!isOver) this.later(500, restartOnceEnded);
      else if (awayMs === 0) this.restart(index);
      else this.later(awayMs, () => this.restart(index));
    };
    this.later(500, restartOnceEnded);
  }

  private restart(index: number): void {
    const replica = this.world.replicas[index];
    if (replica?.process.isAlive && !replica.hasEnded) return;
    void this.world.startReplica(index);
  }

  private paused(process: SimulatedProcess, ms: number): void {
    process.pause();
    this.later(ms, () => {
      // After the last fault, an exam may have paused it.
      if (!this.isOver) process.resume();
    });
  }

  private watches(which: number, how: 'cut' | 'silent' | 'expired' | 'held', heldMs?: number): void {
    this.world.apiNetwork.disturbWatches(this.replica(which), how, heldMs);
  }

  /** Twice as often the leader as another. */
  private replica(which: number): SimulatedProcess {
    const { replicas } = this.world;
    const leader = replicas.find(({ manager, process }) => process.isAlive && manager.isLeader);
    const all = leader ? [...replicas, leader] : replicas;
    return all[Math.floor(which * all.length)]!.process;
  }

  private later(ms: number, act: () => void): void {
    this.world.kernel.after(ms, act);
  }
}
