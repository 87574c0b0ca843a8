import { abortable, isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import type { Revision } from './storage.js';

interface Sample {
  readonly atMs: number;
  readonly revision: Revision;
}

/**
 * Lets writes leave the watch log by age, as the Kubernetes API server does with etcd: notes the revision now and
 * then, and compacts to the newest note that is old enough. Several processes may do so at once.
 */
export class LogCompactor {
  private samples: Sample[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly maxAgeMs: number,
    private readonly log: {
      currentRevision(): Promise<Revision>;
      compact(revision: Revision): Promise<void>;
    },
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Runs until `signal` aborts. Reports faults, and retries at the next round. */
  async run(signal: AbortSignal): Promise<void> {
    const roundMs = this.maxAgeMs / 10;
    while (!signal.aborted) {
      try {
        await abortable(this.round(), signal);
      } catch (error) {
        if (!isAborted(signal)) this.onError(error);
      }
      await pause(this.clock, roundMs, signal);
    }
  }

  private async round(): Promise<void> {
    const nowMs = this.clock.monotonicNow();
    this.samples.push({ atMs: nowMs, revision: await this.log.currentRevision() });
    const old = this.samples.findLast((sample) => nowMs - sample.atMs >= this.maxAgeMs);
    if (!old) return;
    await this.log.compact(old.revision);
    this.samples = this.samples.filter((sample) => sample.atMs > old.atMs);
  }
}
