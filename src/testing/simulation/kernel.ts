import type { RandomSource } from '@rollkeeper/machinery/clock';
import { SeededRandom, replaceTurns } from '@rollkeeper/machinery/clock';
import type { Timed } from './completion-heap.js';
import { CompletionHeap } from './completion-heap.js';
import { Trace } from './trace.js';

/** A completion that has not fired yet. */
export interface Pending {
  /** Nothing happens any more. Doing so twice, or after it has fired, does nothing. */
  cancel(): void;
}

/** The owner of completions: while it is held up they wait, and once it has ended they are dropped. */
export interface CompletionOwner {
  readonly name: string;
  readonly state: 'running' | 'paused' | 'dead';
  /** Keeps the completion until the owner goes on. */
  hold(fire: () => void): void;
}

interface Completion extends Timed {
  readonly owner: CompletionOwner | undefined;
  /** Undefined once it was cancelled. */
  run: (() => void) | undefined;
}

/** The platform's own, even if a test replaces the global one later. */
const systemImmediate = setImmediate;
/** Fewer cancelled completions are left among the others: most are time limits of requests. */
const MOST_CANCELLED = 256;

/** The options of a {@link Kernel}. */
export interface KernelOptions {
  /** Decides every delay, order and chance. */
  readonly seed: number;
  /** How many of the last lines of the trace are kept. @default 0: only their hash */
  readonly keepTrace?: number;
}

/**
 * The time of a simulation, and the only source of what a Node process would call macrotasks: timers, messages,
 * answers. Exactly one pending completion fires at a time. Before the next one, all promises and all turns of the event
 * loop that follow from it are run to their end. A run is therefore a function of its seed.
 */
export class Kernel {
  readonly trace: Trace;
  /** The world's own chances. Each process has its own source, so that one more draw in it changes no other. */
  readonly random: RandomSource;
  /** Simulated milliseconds since the start. */
  nowMs = 0;
  /** How many completions have fired. */
  steps = 0;
  /** The owner of the completion that fires: of all that runs until the next one. Undefined if it has none. */
  current: CompletionOwner | undefined;
  private order = 0;
  /** How many of the completions were cancelled, about. */
  private cancelled = 0;
  private readonly completions = new CompletionHeap<Completion>();
  private turns: (() => void)[] = [];
  private readonly restoreTurns: () => void;

  constructor(private readonly options: KernelOptions) {
    this.random = this.randomOf('world');
    this.trace = new Trace(options.keepTrace);
    this.restoreTurns = replaceTurns((callback) => this.turns.push(callback));
  }

  /** Another source of chance, which follows from the seed and the name. */
  randomOf(name: string): RandomSource {
    let mixed = this.options.seed >>> 0;
    for (let index = 0; index < name.length; index++)
      mixed = Math.imul(mixed ^ name.charCodeAt(index), 0x9e3779b1) >>> 0;
    return new SeededRandom(mixed);
  }

  /** Fires `run` after so many simulated milliseconds, unless its owner is dead by then. */
  after(delayMs: number, run: () => void, owner?: CompletionOwner): Pending {
    const completion: Completion = {
      atMs: this.nowMs + Math.max(delayMs, 0),
      order: this.order++,
      owner,
      run,
    };
    this.completions.push(completion);
    return { cancel: () => this.cancel(completion) };
  }

  /** Runs `turn` once all promises have run to their end, and before the next completion: `setImmediate`. */
  atTurn(turn: () => void): void {
    this.turns.push(turn);
  }

  /** Notes something in the trace. */
  note(from: string, to: string, text: string): void {
    this.trace.note(this.nowMs, from, to, text);
  }

  /** Fires what is due until an instant of simulated time, then sets the time to it. */
  async runUntil(endMs: number): Promise<void> {
    await this.runWhile(() => (this.completions.first?.atMs ?? Infinity) > endMs);
    this.nowMs = Math.max(this.nowMs, endMs);
  }

  /**
   * Fires completions one by one until `isOver` returns true or nothing is left to fire. Promises, ticks and turns that
   * follow from one run to their end before the next: all promises and ticks do before the event loop comes round.
   */
  runWhile(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const round = (): void => {
        try {
          if (this.turns.length > 0) this.takeTurns();
          else {
            this.current = undefined;
            if (!this.fireNext(isOver)) return resolve();
          }
        } catch (error) {
          this.current = undefined;
          return reject(error instanceof Error ? error : new Error(String(error)));
        }
        systemImmediate(round);
      };
      systemImmediate(round);
    });
  }

  /** Restores the event loop for the rest of the process. */
  close(): void {
    this.restoreTurns();
  }

  private cancel(completion: Completion): void {
    if (!completion.run) return;
    completion.run = undefined;
    this.cancelled += 1;
    if (this.cancelled < MOST_CANCELLED || this.cancelled < this.completions.size / 2) return;
    this.completions.keep(({ run }) => run !== undefined);
    this.cancelled = 0;
  }

  /** @returns whether one fired */
  private fireNext(isOver: () => boolean): boolean {
    while (!isOver()) {
      const next = this.completions.pop();
      if (!next) return false;
      const { owner, run } = next;
      if (!run) this.cancelled = Math.max(this.cancelled - 1, 0);
      if (!run || owner?.state === 'dead') continue;
      this.nowMs = next.atMs;
      if (owner?.state === 'paused') {
        owner.hold(() => next.run?.());
        continue;
      }
      next.run = undefined;
      this.steps += 1;
      this.current = owner;
      run();
      return true;
    }
    return false;
  }

  private takeTurns(): void {
    const { turns } = this;
    this.turns = [];
    for (const turn of turns) turn();
  }
}
