import { LinkedAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { ShutdownError, TimeoutError, errorMessage } from '@rollkeeper/machinery/errors';
import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import { newestOfEach, parseKey } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import { isForbidden } from '@rollkeeper/client/api-client';
import type { ActorId, UnansweredWrite } from '../../activation/index.js';
import type { LeaderTerm } from '../../work-queue/index.js';
import type { LedgerClient, LedgerContent } from './intent-shard.js';
import { IntentShard } from './intent-shard.js';

export interface IntentLedgerOptions {
  readonly client: LedgerClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The namespace of the Lease; the ConfigMaps are beside it: `<name>-intents-0`, … */
  readonly namespace: string;
  readonly name: string;
}

/** The state that the former leader left behind, by actor. */
export interface Inheritance {
  readonly intents: readonly (readonly [ActorId, unknown])[];
  readonly unanswered: readonly (readonly [ActorId, readonly UnansweredWrite[]])[];
}

/** Together they hold the intents of some thousand syncs under way. */
const SHARDS = 4;
/** How long a dropped intent may stay stored, milliseconds; the next stored one takes it along. */
const FLUSH_AFTER_MS = 1000;
/** How often intents are looked at that may have expired, milliseconds. */
const EXPIRED_EVERY_MS = 600_000;
/** How long a clean stop may wait for the last write, milliseconds: the next leader waits for it. */
const HAND_OVER_WITHIN_MS = 1000;

/**
 * Keeps intents in the API, where the crash of a leader cannot lose them. A term has to begin here before anything is
 * stored; from then on, nothing of an earlier term is stored any more.
 *
 * With them it stores which versions were written lately, which the next leader's caches must show. On a clean stop it
 * hands over all of them, and which writes had no answer. A crash may lose the versions of passes without intents: such
 * writes name the version that they follow, or an object whose name is certain, and the passes of the next leader read them back before
 * they write (`Activation.followsInterruption`).
 */
export class IntentLedger {
  private readonly shards: readonly IntentShard[];
  /** The resourceVersions of former leaders, by namespace. */
  private inherited = new Map<string, ResourceVersions>();
  private timer: TimerHandle | undefined;
  private isOpen = false;
  private lookAgainAtMs = -Infinity;

  constructor(private readonly options: IntentLedgerOptions) {
    const { client, clock, name, namespace } = options;
    const nowMs = (): number => clock.monotonicNow();
    this.shards = Array.from(
      { length: SHARDS },
      (_, index) => new IntentShard(client, { namespace, name: `${name}-intents-${index}` }, nowMs),
    );
  }

  /**
   * Begins a term, and returns what the former one left.
   * @throws SupersededError if a newer term has begun
   */
  async begin(term: LeaderTerm, signal: AbortSignal): Promise<Inheritance> {
    const intents: (readonly [ActorId, unknown])[] = [];
    const unanswered: (readonly [ActorId, readonly UnansweredWrite[]])[] = [];
    const contents = await this.beginInAll(term, signal);
    this.inherited = new Map();
    // Also what this process wrote in an earlier term: its caches may have lost their connections meanwhile.
    for (const { writtenVersions } of this.shards)
      for (const [namespace, versions] of writtenVersions)
        this.inherited.set(namespace, newestOfEach(this.inherited.get(namespace) ?? {}, versions));
    for (const content of contents) {
      for (const [name, stored] of content?.intents ?? []) intents.push([idOf(name), stored]);
      for (const [name, writes] of content?.unanswered ?? []) unanswered.push([idOf(name), writes]);
    }
    this.isOpen = true;
    return { intents, unanswered };
  }

  /** Stores the intents of an actor before it resolves. @throws SupersededError */
  async put(id: ActorId, intents: unknown): Promise<void> {
    if (intents === undefined) this.drop(id);
    else await this.shardOf(id).put(nameOf(id), intents);
  }

  /** Removes them a little later. */
  drop(id: ActorId): void {
    this.shardOf(id).drop(nameOf(id));
    this.flushSoon();
  }

  /**
   * Removes, at most once in ten minutes, the intents of actors that have expired: their object was deleted while no
   * replica ran.
   */
  dropUnless(isKnown: (id: ActorId) => boolean): void {
    const nowMs = this.options.clock.monotonicNow();
    if (nowMs < this.lookAgainAtMs) return;
    this.lookAgainAtMs = nowMs + EXPIRED_EVERY_MS;
    for (const shard of this.shards)
      for (const name of shard.actors) if (!isKnown(idOf(name))) shard.drop(name);
    this.flushSoon();
  }

  private flushSoon(): void {
    if (!this.isOpen || this.timer || !this.shards.some(({ hasChanged }) => hasChanged)) return;
    this.timer = this.options.clock.setTimeout(() => void this.flush(), FLUSH_AFTER_MS);
  }

  /** Versions that a sync of the key must have seen although this process did not write them. */
  mustHaveSeen({ key }: ActorId): ResourceVersions {
    return this.inherited.get(namespaceOf(key)) ?? {};
  }

  /** A sync of the key has written these. */
  noteWritten(id: ActorId, versions: ResourceVersions): void {
    this.shardOf(id).noteWritten(namespaceOf(id.key), versions);
  }

  /** Ends the term after its last key, by a clean stop: leaves everything to the next leader. */
  async handOver(unanswered: readonly (readonly [ActorId, readonly UnansweredWrite[]])[]): Promise<void> {
    this.end();
    const { clock, logger } = this.options;
    const handing = this.shards.map((shard) =>
      shard.handOver({
        unanswered: new Map(
          unanswered
            .filter(([id]) => this.shardOf(id) === shard)
            .map(([id, writes]) => [nameOf(id), writes] as const),
        ),
      }),
    );
    const over = new AbortController();
    const limit = pause(clock, HAND_OVER_WITHIN_MS, over.signal).then((isLate) => {
      if (isLate) throw new TimeoutError(`no answer within ${HAND_OVER_WITHIN_MS} ms`);
    });
    try {
      await Promise.race([Promise.all(handing), limit]);
    } catch (error) {
      logger.warn('what the next leader should know could not be stored', { error: errorMessage(error) });
    } finally {
      over.abort();
      await limit.catch(() => undefined);
      for (const each of handing) each.catch(() => undefined);
    }
  }

  /** Ends the term without a word: the lease is lost, and nothing of ours counts any more. */
  end(): void {
    this.isOpen = false;
    this.timer?.cancel();
    this.timer = undefined;
  }

  private async flush(): Promise<void> {
    this.timer = undefined;
    try {
      await Promise.all(this.shards.map((shard) => shard.flush()));
    } catch (error) {
      // The next intent takes it along, and a stale one does no harm.
      this.options.logger.debug('dropped intents are still stored', { error });
    }
  }

  /** If it fails in one, none of the others is left on its way: the next round begins in all of them. */
  private async beginInAll(term: LeaderTerm, signal: AbortSignal): Promise<(LedgerContent | undefined)[]> {
    const round = new LinkedAbort(signal);
    const begins = this.shards.map((shard) => this.beginIn(shard, term, round.signal));
    try {
      return await Promise.all(begins);
    } catch (error) {
      round.abort(new ShutdownError('the term has to begin again', { cause: error }));
      await Promise.allSettled(begins);
      throw error;
    } finally {
      round.close();
    }
  }

  /** Without the right to read ConfigMaps there are no intents; a controller that stores one then fails by itself. */
  private async beginIn(shard: IntentShard, term: LeaderTerm, signal: AbortSignal) {
    try {
      return await shard.begin(term, signal);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      this.options.logger.warn('intents of controllers cannot be kept', { error: errorMessage(error) });
      return undefined;
    }
  }

  private shardOf(id: ActorId): IntentShard {
    // FNV-1a: the same on every replica and in every release.
    let hash = 0x811c9dc5;
    for (const char of nameOf(id)) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
    return this.shards[hash % SHARDS] as IntentShard;
  }
}

function namespaceOf(key: string): string {
  return parseKey(key).namespace ?? '';
}

function nameOf({ controller, key }: ActorId): string {
  return `${controller} ${key}`;
}

function idOf(name: string): ActorId {
  const space = name.indexOf(' ');
  return { controller: name.slice(0, space), key: name.slice(space + 1) };
}
