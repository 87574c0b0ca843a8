import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { FuzzedServer } from './fuzzed-server.js';

/** What somebody else has seen since it was asked last. */
export interface Sighting {
  readonly slowest: { readonly ms: number; readonly what: string };
  readonly failures: readonly string[];
  readonly count: number;
  /** By how much everything took longer than on a machine that does nothing else. At least 1. */
  readonly slowdown: number;
}

const PAUSE_MS = 20;
const TIMEOUT_MS = 30_000;

/** Somebody who reads and writes one small object all the time, and must not notice what others do to the server. */
export class Bystander {
  private constructor(private readonly worker: Worker) {}

  /** @param path an object that is there */
  static start(server: FuzzedServer, path: string): Bystander {
    const { ca, token, url } = server;
    const worker = new Worker(join(import.meta.dirname, 'instruments', 'bystander.mjs'), {
      workerData: { url, token, ca, path, pauseMs: PAUSE_MS, timeoutMs: TIMEOUT_MS },
    });
    return new Bystander(worker);
  }

  take(): Promise<Sighting> {
    return new Promise((resolve, reject) => {
      const { worker } = this;
      worker.once('message', resolve).once('error', reject);
      worker.postMessage('take');
    });
  }

  async stop(): Promise<void> {
    const exited = new Promise((resolve) => this.worker.once('exit', resolve));
    this.worker.postMessage('stop');
    await exited;
  }
}
