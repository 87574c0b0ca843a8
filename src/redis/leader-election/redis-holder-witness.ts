import { abortable } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { IllegalStateError, errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { RedisConnection } from '../connection/index.js';
import { LuaScript } from '../connection/index.js';
import type { HolderWitness, Sighting } from '@rollkeeper/runtime/leader-election/holder-witness';
import type { RedisLeaseLinks } from './redis-lease-links.js';
import { WakeableSleep } from '@rollkeeper/runtime/leader-election/wakeable-sleep';

const lookScript = new LuaScript<[subscribers: number, runId: string]>(
  new URL('./lua/look-1.lua', import.meta.url),
);

/** The options of {@link RedisHolderWitness}. */
export interface RedisHolderWitnessOptions {
  readonly links: RedisLeaseLinks;
  readonly identity: string;
  readonly clock: Clock;
  readonly logger?: Logger;
}

/** How often to check whether we are visible, until we are; after that, checks are rare. */
const UNSEEN_CHECK_MS = 200;
const SEEN_CHECK_MS = 5000;
const LINK_EVENTS = ['close', 'end', '-node'] as const;

/**
 * Redis as the witness: each process subscribes to a channel of its own, and others ask how many subscribers that
 * channel has. Shard channels are used because they are counted on one server; in a Cluster, the one that holds the
 * lease.
 *
 * A look at a holder that is there is a single command, and tells how many processes look: they share the looks. Only a look that
 * does not find it asks for the number and the server in one step.
 *
 * The place is that server's run id: a restart or failover drops every subscription at once, which says nothing about
 * the processes. A place is claimed only after we have seen ourselves there, the same way that others look. Behind a
 * proxy that queries another server than the one we subscribed at, nothing is claimed.
 */
export class RedisHolderWitness implements HolderWitness {
  private seenAt = '';
  /** The run of the server that answered our last whole look, as long as the connection to it stands. */
  private lookedAt = '';
  private lookersSeen = 1;
  /** The connection whose end makes us forget {@link lookedAt}. */
  private minds: RedisConnection | undefined;
  private readonly tells = new Set<() => void>();
  private readonly logger: Logger;
  private hasRun = false;
  private readonly news: WakeableSleep;
  /** How often our connection broke. */
  private breaks = 0;

  constructor(private readonly options: RedisHolderWitnessOptions) {
    this.logger = (options.logger ?? silentLogger).child({ identity: options.identity });
    this.news = new WakeableSleep(options.clock);
  }

  get place(): string {
    return this.seenAt;
  }

  get lookers(): number {
    return this.lookersSeen;
  }

  onHidden(tell: () => void): () => void {
    this.tells.add(tell);
    return () => this.tells.delete(tell);
  }

  async look(identity: string, place: string, signal: AbortSignal): Promise<Sighting> {
    signal.throwIfAborted();
    try {
      if (place !== '' && place === this.lookedAt && (await this.isThere(identity, signal))) return 'present';
      const { subscribers, runId } = await this.count(identity, signal);
      this.rememberServer(runId);
      if (runId === '' || runId !== place) return 'unknown';
      return subscribers > 0 ? 'present' : 'absent';
    } catch (error) {
      signal.throwIfAborted();
      this.logger.debug('could not look for the holder of the lease', { error: errorMessage(error) });
      return 'unknown';
    }
  }

  /** @throws IllegalStateError when called twice */
  async run(signal: AbortSignal): Promise<void> {
    if (this.hasRun) throw new IllegalStateError('the witness has been run already');
    this.hasRun = true;
    const { listener } = this.options.links;
    const hide = (): void => this.hide();
    for (const event of LINK_EVENTS) listener.on(event, hide);
    void this.subscribe(signal);
    while (!signal.aborted) {
      await this.check(signal);
      await this.news.sleep(this.seenAt === '' ? UNSEEN_CHECK_MS : SEEN_CHECK_MS, signal);
    }
    for (const event of LINK_EVENTS) listener.off(event, hide);
    this.seenAt = '';
  }

  /** The client resubscribes after each reconnect, so one call is enough. */
  private async subscribe(signal: AbortSignal): Promise<void> {
    const { identity, links } = this.options;
    try {
      await links.listener.ssubscribe(links.aliveChannel(identity), links.everyChannel);
      this.news.wake();
    } catch (error) {
      if (!signal.aborted)
        this.logger.warn(
          'this process is not visible to the others: if it dies, its lease has to expire first',
          {
            error: errorMessage(error),
          },
        );
    }
  }

  private async check(signal: AbortSignal): Promise<void> {
    const { breaks } = this;
    try {
      const { subscribers, runId } = await this.count(this.options.identity, signal);
      if (subscribers === 0) this.hide();
      else if (breaks === this.breaks) this.seenAt = runId;
    } catch {
      // We may still be visible where we were last seen; if not, the connection breaks and we are notified.
    }
  }

  /** A process that is subscribed lives, wherever the command went; only absence depends on the place. */
  private async isThere(identity: string, signal: AbortSignal): Promise<boolean> {
    const { links } = this.options;
    const asked = links.commands.pubsub('SHARDNUMSUB', links.aliveChannel(identity), links.everyChannel);
    const counts = await abortable(asked, signal);
    // The holder is one of all, and does not look.
    this.lookersSeen = Math.max(Number(counts[3]) - 1, 1);
    return Number(counts[1]) > 0;
  }

  private rememberServer(runId: string): void {
    const { commands } = this.options.links;
    // The nodes of a Cluster share no channels, and the short command would go to any of them.
    if (commands.isCluster) return;
    this.lookedAt = runId;
    if (this.minds === commands) return;
    this.minds = commands;
    commands.on('close', () => (this.lookedAt = ''));
  }

  private async count(
    identity: string,
    signal: AbortSignal,
  ): Promise<{ subscribers: number; runId: string }> {
    const { links } = this.options;
    const asked = lookScript.run(links.commands, [links.key], [links.aliveChannel(identity)]);
    const [subscribers, runId] = await abortable(asked, signal);
    return { subscribers, runId };
  }

  private hide(): void {
    this.breaks += 1;
    if (this.seenAt === '') return;
    this.seenAt = '';
    for (const tell of [...this.tells]) tell();
    this.news.wake();
  }
}
