import type { Clock } from '@rollkeeper/machinery/clock';
import type { RolloutMetrics } from '../durations/rollout-durations.js';
import type { Quantity, Sample, Samples } from './objectives.js';

const KEPT_MS = 24 * 3_600_000;
/** The number of samples of each quantity; the oldest go first. */
const MOST = 2000;

/** The last measurements of this replica: of a day, unless there were many. */
export class ObjectiveLog {
  private readonly kept: Record<Quantity, Sample[]> = { firstWrite: [], overhead: [] };

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  samples(): Samples {
    const oldestMs = this.clock.now() - KEPT_MS;
    const recent = (quantity: Quantity) => this.kept[quantity].filter(([atMs]) => atMs >= oldestMs);
    return { firstWrite: recent('firstWrite'), overhead: recent('overhead') };
  }

  /** The same metrics, noted here as well. */
  noting(metrics: RolloutMetrics): RolloutMetrics {
    return {
      ended: (outcome, ms) => metrics.ended(outcome, ms),
      firstWrite: (ms) => {
        metrics.firstWrite(ms);
        this.note('firstWrite', ms);
      },
      overhead: (ms) => {
        metrics.overhead(ms);
        this.note('overhead', ms);
      },
    };
  }

  private note(quantity: Quantity, ms: number): void {
    const samples = this.kept[quantity];
    samples.push([this.clock.now(), ms / 1000]);
    if (samples.length > MOST) samples.splice(0, samples.length - MOST);
  }
}
