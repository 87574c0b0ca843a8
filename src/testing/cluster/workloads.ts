import { abortable } from '@rollkeeper/machinery/cancellation';
import { ShutdownError } from '@rollkeeper/machinery/errors';
import type { ControllerQueue } from '@rollkeeper/runtime/activation';
import type { SimulatedNodes } from '@rollkeeper/simulator';
import type { CacheOf } from './activity.js';
import { cachesOf } from './activity.js';
import type { Controllers } from './controllers.js';
import type { TestScheduler } from './test-scheduler.js';

interface WorkloadParts {
  readonly controllers?: Controllers;
  readonly nodes?: SimulatedNodes;
  readonly scheduler?: TestScheduler;
}

/** The controllers, nodes and scheduler of a cluster, from one start to the stop. */
export class Workloads {
  private readonly stopper = new AbortController();
  private readonly work: Promise<void>[] = [];

  constructor(private readonly parts: WorkloadParts) {}

  get queues(): readonly ControllerQueue[] {
    return this.parts.controllers?.queues ?? [];
  }

  /** Their caches; of those that come and go, the ones for `resources`. */
  cachesOf(resources: readonly string[]): readonly CacheOf[] {
    const { controllers, nodes, scheduler } = this.parts;
    return [
      ...(controllers?.cachesOf(resources) ?? []),
      ...cachesOf(nodes?.informers ?? []),
      ...cachesOf(scheduler?.informers ?? []),
    ];
  }

  /**
   * Resolves when all of it is running; rejects, with everything stopped, if a part fails first or `signal` aborts.
   * @param onFailure called with a later failure
   */
  async start(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    const { controllers, nodes, scheduler } = this.parts;
    let isReady = false;
    try {
      const working = new Promise<void>((resolve, reject) => {
        const fail = (error: unknown): void => {
          if (this.stopper.signal.aborted) return;
          if (isReady) onFailure(error);
          else reject(error instanceof Error ? error : new Error(String(error)));
        };
        const ready = [controllers, nodes, scheduler]
          .filter((part) => part !== undefined)
          .map((part) => {
            return new Promise<void>((onReady) => {
              const work = part.run(this.stopper.signal, onReady);
              this.work.push(work.catch(fail));
            });
          });
        void Promise.all(ready).then(() => resolve());
      });
      await abortable(working, signal);
      isReady = true;
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Finishes keys in progress, then stops everything. */
  async stop(): Promise<void> {
    this.stopper.abort(new ShutdownError('the test cluster stops'));
    await Promise.all(this.work);
  }
}
