import { Agent, request as sendRequest } from 'node:http';
import type { Clock } from 'rollkeeper';
import type { Outcome } from './tally.ts';
import { Tally } from './tally.ts';

export interface LoadOptions {
  readonly clock: Clock;
  /** The port of the gateway, on 127.0.0.1. */
  readonly port: number;
  /** @default 200 */
  readonly ratePerSecond?: number;
  /** Requests without an answer, at most; those beyond wait for one. @default 64 */
  readonly atOnce?: number;
  /** @default / */
  readonly path?: string;
  /** @default none */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Requests that became due within this are sent together, milliseconds. */
const TICK_MS = 10;
/** A request without an answer has failed after this, milliseconds. */
const TIMEOUT_MS = 30_000;

/** Sends requests at a constant rate over connections that are kept, and counts who answered and what failed. */
export class ConstantLoad {
  private readonly options: LoadOptions;
  private readonly agent: Agent;
  private readonly tallies = new Set<Tally>();
  private readonly inFlight = new Set<Promise<void>>();
  private running: Promise<void> = Promise.resolve();
  private stopper: AbortController | undefined;

  constructor(options: LoadOptions) {
    this.options = options;
    this.agent = new Agent({ keepAlive: true, maxSockets: options.atOnce ?? 64 });
  }

  /** A tally of every request that is sent from now on. */
  count(): Tally {
    const tally = new Tally();
    this.tallies.add(tally);
    return tally;
  }

  /** Ends a tally. */
  forget(tally: Tally): void {
    this.tallies.delete(tally);
  }

  start(): void {
    this.stopper = new AbortController();
    this.running = this.run(this.stopper.signal);
  }

  /** Resolves when the last request is answered. */
  async stop(): Promise<void> {
    this.stopper?.abort();
    await this.running;
    await Promise.all(this.inFlight);
    this.agent.destroy();
  }

  /** Sends this many requests as fast as they are answered, beside the constant rate. Its tally has these alone. */
  async burst(count: number): Promise<Tally> {
    const tally = new Tally();
    let left = count;
    const work = async (): Promise<void> => {
      while (left-- > 0) tally.add(await this.sendCounted());
    };
    await Promise.all(Array.from({ length: this.atOnce }, work));
    return tally;
  }

  private get atOnce(): number {
    return this.options.atOnce ?? 64;
  }

  private async run(signal: AbortSignal): Promise<void> {
    const { clock, ratePerSecond = 200 } = this.options;
    const startedAt = clock.monotonicNow();
    for (let sent = 0; !signal.aborted;) {
      const due = ((clock.monotonicNow() - startedAt) * ratePerSecond) / 1000;
      for (; sent < due && this.inFlight.size < this.atOnce; sent++) this.follow(this.sendCounted());
      await clock.sleep(TICK_MS, signal).catch(() => undefined);
    }
  }

  private follow(request: Promise<Outcome>): void {
    const followed = request.then(() => void this.inFlight.delete(followed));
    this.inFlight.add(followed);
  }

  private async sendCounted(): Promise<Outcome> {
    // A tally that begins afterwards has not asked for this request.
    const tallies = [...this.tallies];
    const outcome = await this.send();
    for (const tally of tallies) tally.add(outcome);
    return outcome;
  }

  /** One request; never rejects. */
  send(): Promise<Outcome> {
    const { headers, path = '/', port } = this.options;
    const { agent } = this;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return new Promise((resolve) => {
      sendRequest({ host: '127.0.0.1', agent, headers, path, port, signal }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.once('error', (error) => resolve({ failure: error.message }));
        response.once('end', () => {
          const { statusCode = 0 } = response;
          const image = response.headers['x-image'];
          const [cookie] = response.headers['set-cookie'] ?? [];
          const set = cookie === undefined ? {} : { cookie };
          resolve(
            statusCode === 200
              ? { image: String(image), ...set }
              : { failure: `${statusCode} ${text.trim()}` },
          );
        });
      })
        .once('error', (error) => resolve({ failure: error.message }))
        .end();
    });
  }
}
