import type { Logger } from '../../../src/machinery/logging/index.js';
import { silentLogger } from '../../../src/machinery/logging/index.js';
import type { Violation } from '../../chaos/checkers/violation.js';

/** The message of `UnqueuedSweep`. */
export const SWEPT = 'a key had to be queued and was not; it is added';
/** An add that a fault held up is retried, and the sweep compares two looks, ten seconds apart; milliseconds. */
const SETTLES_MS = 40_000;

/** The safety net against lost keys has nothing to add once nothing fails any more: queues in the memory of owners lose no key. */
export class SweepWatch {
  private fromMs = Infinity;

  constructor(
    private readonly found: (violation: Violation) => void,
    private readonly nowMs: () => number,
  ) {}

  /** The faults are over. */
  begin(): void {
    this.fromMs = this.nowMs() + SETTLES_MS;
  }

  /** A logger that notices the message beside another one. */
  logger(other: Logger = silentLogger): Logger {
    return {
      ...other,
      error: (message, fields) => {
        other.error(message, fields);
        if (message !== SWEPT || this.nowMs() < this.fromMs) return;
        this.found({ check: 'swept keys', subject: String(fields?.['key']), problem: message });
      },
      child: (fields) => this.logger(other.child(fields)),
    };
  }
}
