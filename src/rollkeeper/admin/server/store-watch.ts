import type { OnApplicationBootstrap, BeforeApplicationShutdown } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { abortable, isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { TimeoutError } from '@rollkeeper/machinery/errors';
import type { WatchedStore } from './admin-ports.js';
import { AdminPorts } from './admin-ports.js';
import type { StoreView } from './status-source.js';
import { WHILE_STORE_IS_SILENT } from '../../insight/silent-store.js';

/** Together they bound how long a hanging store goes unnoticed. */
const PING_EVERY_MS = 400;
const ANSWER_WITHIN_MS = 1200;

/**
 * Tracks whether the store answers. Otherwise each request would notice a hanging one only after a command's whole
 * timeout; with this, users see the problem within two seconds, and no request waits for the store.
 */
@Injectable()
export class StoreWatch implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stop = new AbortController();
  private lastAnswerMs: number;
  private silence: AbortController | undefined;

  private readonly store: WatchedStore;
  private readonly clock: Clock;

  constructor(@Inject(AdminPorts) { clock, store }: Pick<AdminPorts, 'clock' | 'store'>) {
    this.store = store;
    this.clock = clock;
    this.lastAnswerMs = clock.now();
  }

  onApplicationBootstrap(): void {
    void this.run(this.stop.signal);
  }

  beforeApplicationShutdown(): void {
    this.stop.abort();
  }

  view(): StoreView {
    const { name } = this.store;
    if (!this.silence?.signal.aborted) return { name, answers: true };
    return { name, answers: false, silentSinceMs: this.lastAnswerMs, meanwhile: WHILE_STORE_IS_SILENT };
  }

  /**
   * The result of `work`, which reads from the store.
   * @throws TimeoutError immediately while the store is silent, and as soon as it is found to be
   */
  async ask<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = (this.silence ??= new AbortController());
    signal.throwIfAborted();
    return abortable(work(), signal);
  }

  /** Watches until aborted; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const sentMs = this.clock.now();
      if (await this.isAnswering(signal)) this.heard(sentMs);
      else if (!isAborted(signal)) this.missed();
      await pause(this.clock, PING_EVERY_MS, signal);
    }
  }

  private async isAnswering(signal: AbortSignal): Promise<boolean> {
    const done = new AbortController();
    const late = this.clock
      .sleep(ANSWER_WITHIN_MS, AbortSignal.any([signal, done.signal]))
      .then(() => false)
      .catch(() => false);
    const answered = this.store
      .ping()
      .then(() => true)
      .catch(() => false);
    try {
      return await Promise.race([answered, late]);
    } finally {
      done.abort();
    }
  }

  private heard(sentMs: number): void {
    this.lastAnswerMs = sentMs;
    if (this.silence?.signal.aborted) this.silence = undefined;
  }

  private missed(): void {
    this.silence ??= new AbortController();
    this.silence.abort(new TimeoutError(`${this.store.name} does not answer`));
  }
}
