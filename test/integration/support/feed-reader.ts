import type { FakeClock } from '../../../src/machinery/clock/index.js';
import type { DeploymentSummary } from '../../../src/rollkeeper/admin/server/console-summary.js';
import type { FeedEvent } from '../../../src/rollkeeper/admin/server/feed-events.js';
import { waitFor } from '../../../src/testing/wait-for.js';

/** A console that reads the feed of a replica, and moves the clocks of all of them meanwhile. */
export class FeedReader {
  /** Everything that it was sent. */
  text = '';
  /** The keys of the rows that vanished at any time. */
  readonly everGone: string[] = [];
  /** The replicas whose rows are missing. Undefined: no event names any. */
  missing: Extract<FeedEvent, { type: 'missing' }>['replicas'] | undefined;
  private readonly rows = new Map<string, { readonly tellings: number; readonly row: DeploymentSummary }>();
  private readonly stop = new AbortController();
  private cluster: Extract<FeedEvent, { type: 'cluster' }> | undefined;

  constructor(private readonly clocks: () => Iterable<FakeClock>) {}

  async open(url: string, token: string): Promise<void> {
    const headers = { authorization: `Bearer ${token}` };
    const { body } = await fetch(url, { headers, signal: this.stop.signal });
    if (body) void this.read(body).catch(() => undefined);
  }

  close(): void {
    this.stop.abort();
  }

  keys(): string[] {
    return [...this.rows.keys()].sort();
  }

  /** How many events had a row. */
  tellings(key: string): number {
    return this.rows.get(key)?.tellings ?? 0;
  }

  /** The newest state of a row. */
  row(key: string): DeploymentSummary | undefined {
    return this.rows.get(key)?.row;
  }

  parkedOf(controller: string): number | undefined {
    return this.cluster?.queues.find((queue) => queue.controller === controller)?.parked.length;
  }

  async sees(keys: readonly string[]): Promise<void> {
    const wanted = [...keys].sort().join();
    await this.waits(() => this.keys().join() === wanted, `the rows ${wanted}`);
  }

  async waits(condition: () => boolean, what: string): Promise<void> {
    await waitFor(
      async () => {
        await this.passes(100);
        return condition();
      },
      { what, intervalMs: 5 },
    );
  }

  /** Lets time pass at all replicas, milliseconds. */
  async passes(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      for (const clock of this.clocks()) await clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    let rest = '';
    for await (const part of body.pipeThrough(new TextDecoderStream())) {
      this.text += part;
      const messages = (rest + part).split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages) this.take(JSON.parse(message.split('data: ')[1] ?? '{}') as FeedEvent);
    }
  }

  private take(event: FeedEvent): void {
    if (event.type === 'cluster') this.cluster = event;
    if (event.type === 'missing') this.missing = event.replicas;
    if (event.type !== 'deployments') return;
    for (const row of event.changed) this.rows.set(row.key, { row, tellings: this.tellings(row.key) + 1 });
    for (const key of event.gone) if (this.rows.delete(key)) this.everGone.push(key);
  }
}
