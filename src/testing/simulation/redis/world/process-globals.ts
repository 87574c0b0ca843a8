import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Clock } from '@rollkeeper/machinery/clock';
import { uuidOf } from '@rollkeeper/machinery/clock';
import type { Kernel } from '../../kernel.js';
import { SimulatedProcess } from '../../process.js';
import { ownTimers } from '../own-timers.js';

/** Each completion runs in one process, so that time and chance of the platform can be those of the process that runs. */
export class ProcessGlobals {
  /** The clock of the process that runs: a timer stays with the process that set it. */
  readonly clock: Clock;
  private readonly nobody: SimulatedProcess;

  constructor(private readonly kernel: Kernel) {
    this.nobody = new SimulatedProcess(kernel, 'nobody');
    this.clock = {
      now: () => this.current.clock.now(),
      monotonicNow: () => this.current.clock.monotonicNow(),
      setTimeout: (callback, delayMs) => this.current.clock.setTimeout(callback, delayMs),
      sleep: (delayMs, signal) => this.current.clock.sleep(delayMs, signal),
    };
  }

  /** The process whose completion fires. What the world itself does belongs to a process of no other use. */
  get current(): SimulatedProcess {
    const { current } = this.kernel;
    return current instanceof SimulatedProcess ? current : this.nobody;
  }

  /**
   * Gives the platform's timers, `Date`, `performance.now()`, `setImmediate`, `Math.random` and `crypto.randomUUID` to the
   * process that runs, for libraries that know no other.
   * @returns gives them back
   */
  take(): () => void {
    const giveTimeBack = ownTimers(this.clock);
    const { randomUUID } = crypto;
    const { random } = Math;
    const { clearImmediate, setImmediate } = globalThis;
    crypto.randomUUID = () => uuidOf(this.current.random) as ReturnType<typeof randomUUID>;
    syncBuiltinESMExports();
    Math.random = () => this.current.random.next();
    Object.assign(globalThis, {
      setImmediate: <Args extends unknown[]>(callback: (...args: Args) => void, ...args: Args) => {
        const turn = { isOver: false };
        this.kernel.atTurn(() => {
          if (!turn.isOver) callback(...args);
        });
        return turn;
      },
      clearImmediate: (turn: { isOver: boolean } | undefined) => {
        if (turn) turn.isOver = true;
      },
    });
    return () => {
      Object.assign(globalThis, { clearImmediate, setImmediate });
      Math.random = random;
      crypto.randomUUID = randomUUID;
      syncBuiltinESMExports();
      giveTimeBack();
    };
  }
}
