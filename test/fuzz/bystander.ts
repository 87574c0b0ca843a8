import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ANSWER_TIMEOUT_MS } from './fuzzed-server.js';
import type { FuzzedServer } from './fuzzed-server.js';

/** The observations of the bystander since the last look. */
export interface Sighting {
  readonly slowest: { readonly ms: number; readonly what: string };
  readonly failures: readonly string[];
  readonly count: number;
  /** By how much everything took longer than on a machine that does nothing else. At least 1. */
  readonly slowdown: number;
}

const PAUSE_MS = 20;

/** A client that reads and writes one small object all the time, and must not notice what others do to the server. */
export class Bystander {
  private readonly exited: Promise<void>;
  private failure: Error | undefined;

  private constructor(private readonly worker: Worker) {
    this.exited = new Promise((resolve) => worker.once('exit', () => resolve()));
    worker.on('error', (error) => (this.failure = error as Error));
  }

  /** @param path an object that is there */
  static start(server: FuzzedServer, path: string): Bystander {
    const { ca, token, url } = server;
    const worker = new Worker(join(import.meta.dirname, 'instruments', 'bystander.mjs'), {
      workerData: { url, token, ca, path, pauseMs: PAUSE_MS, timeoutMs: ANSWER_TIMEOUT_MS },
    });
    return new Bystander(worker);
  }

  /** @throws when it has ended, by a fault of its own or because it was stopped */
  async take(): Promise<Sighting> {
    const { worker } = this;
    const taken = new Promise<Sighting>((resolve) => worker.once('message', resolve));
    worker.postMessage('take');
    const sighting = await Promise.race([taken, this.exited]);
    if (!sighting) throw this.failure ?? new Error('the bystander has ended');
    return sighting;
  }

  /** Again and again, if need be. */
  async stop(): Promise<void> {
    this.worker.postMessage('stop');
    await this.exited;
  }
}
