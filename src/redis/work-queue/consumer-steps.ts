import type { BegunRun, BullMqWorkQueue } from './bullmq-work-queue.js';
import type { BeginningOfRun, EndOfRun, RunSteps } from './joined-taking.js';

/** The part of one consumer's runs in the steps that take and complete jobs, by the ids of the jobs. */
export class ConsumerSteps<Started extends object> implements RunSteps {
  private readonly begun = new Map<string, BegunRun<Started>>();
  private readonly ends = new Map<string, EndOfRun>();

  constructor(private readonly queue: Pick<BullMqWorkQueue<Started>, 'beginning' | 'options'>) {}

  beginning(): BeginningOfRun {
    const { answerKey, call, read } = this.queue.beginning();
    const taken = (jobId: string, reply: unknown): void => {
      const run = read(reply);
      if (run) this.begun.set(jobId, run);
    };
    return { answerKey, answerKeptMs: this.queue.options.lockDurationMs, call, taken };
  }

  /** The run that has begun when the job was taken; once. */
  begunOf(jobId: string): BegunRun<Started> | undefined {
    const run = this.begun.get(jobId);
    this.begun.delete(jobId);
    // An earlier run of the job could not be completed.
    this.ends.delete(jobId);
    return run;
  }

  endWith(jobId: string, end: EndOfRun | undefined): void {
    if (end) this.ends.set(jobId, end);
  }

  endOf(jobId: string): EndOfRun | undefined {
    return this.ends.get(jobId);
  }

  ended(jobId: string): void {
    this.ends.delete(jobId);
  }

  /** The server did not let the job be completed, or the worker is closed. The job runs again, and finds the lock free. */
  async leave(jobId: string): Promise<void> {
    const end = this.ends.get(jobId);
    this.ends.delete(jobId);
    // Says itself why it fails; the lock then expires.
    await end?.alone().catch(() => undefined);
  }
}
