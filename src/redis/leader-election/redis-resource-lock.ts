import { abortable } from '@rollkeeper/machinery/cancellation';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { LuaScript, assertRedisUrl } from '../connection/index.js';
import type { RedisLeaseLinksOptions } from './redis-lease-links.js';
import { RedisLeaseLinks } from './redis-lease-links.js';
import type {
  LeaderElectionRecord,
  LeaseAttempt,
  LeaseRequest,
  ResourceLock,
} from '@rollkeeper/runtime/leader-election/resource-lock';

type AcquireReply = [
  outcome: LeaseAttempt['outcome'],
  holder: string,
  epoch: number,
  durationMs: number,
  acquiredUs: string,
  renewedUs: string,
  remainingMs: number,
  seenAt: string,
];

const acquireScript = new LuaScript<AcquireReply>(new URL('./lua/acquire-1.lua', import.meta.url));
const releaseScript = new LuaScript(new URL('./lua/release-1.lua', import.meta.url));

/** The options of {@link RedisResourceLock}. */
export interface RedisResourceLockOptions extends RedisLeaseLinksOptions {
  /** Our identity: unique to this process, also across its restarts. */
  readonly identity: string;
  /** Shared connections; their owner closes them. @default its own */
  readonly links?: RedisLeaseLinks;
}

/**
 * The lease in Redis. A single script judges it by the Redis server's clock. If that clock jumps forward, or a failover
 * loses the last writes, another process may get the lease too early: work must therefore carry the fencing epoch to
 * where it writes. If the clock jumps back, the lease lasts no longer than its duration from the next attempt on.
 *
 * Connects on first use; `close` it after its elector has stopped.
 */
export class RedisResourceLock implements ResourceLock {
  readonly identity: string;
  readonly knowsItsEnd = true;
  /** Its connections, for other users of the lease in this process. */
  readonly links: RedisLeaseLinks;
  private readonly wakes = new Set<() => void>();
  private isListening = false;
  /** The client sends a command again if the connection broke before its answer: the number tells that from a new one. */
  private attempts = 0;

  /** @throws InvalidOptionError */
  constructor(options: RedisResourceLockOptions) {
    const { identity } = options;
    if (identity === '') throw new InvalidOptionError('identity', 'is empty');
    this.identity = identity;
    this.links = options.links ?? new RedisLeaseLinks(options);
    assertRedisUrl(options.url);
  }

  describe(): string {
    return `redis lease ${this.links.key}`;
  }

  async get(signal?: AbortSignal): Promise<LeaderElectionRecord | undefined> {
    const fields = ['holder', 'epoch', 'durationMs', 'acquiredUs', 'renewedUs', 'witness'] as const;
    const values = await abortable(this.links.commands.hmget(this.links.key, ...fields), signal);
    const [holder, epoch, durationMs, acquiredUs, renewedUs, witness] = values;
    if (typeof epoch !== 'string') return undefined;
    return toRecord({
      holder: holder ?? '',
      epoch: Number(epoch),
      durationMs: Number(durationMs),
      acquiredUs: String(acquiredUs),
      renewedUs: String(renewedUs),
      witness: witness ?? '',
    });
  }

  async tryAcquireOrRenew(leaseDurationMs: number, request: LeaseRequest = {}): Promise<LeaseAttempt> {
    const { deposing, epochAbove = 0, signal, witness = '' } = request;
    signal?.throwIfAborted();
    const gone = [deposing?.holderIdentity ?? '', deposing?.leaderTransitions ?? 0, deposing?.witness ?? ''];
    const args = [this.identity, leaseDurationMs, epochAbove, witness, ...gone, ++this.attempts];
    const reply = await abortable(this.run(acquireScript, args), signal);
    const [outcome, holder, epoch, durationMs, acquiredUs, renewedUs, remainingMs, seenAt] = reply;
    const record = toRecord({ holder, epoch, durationMs, acquiredUs, renewedUs, witness: seenAt });
    return outcome === 'held' ? { outcome, record, remainingMs } : { outcome, record };
  }

  async release(signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted();
    const asked = this.run(releaseScript, [this.identity, this.links.releasedChannel, ++this.attempts]);
    return (await abortable(asked, signal)) === 1;
  }

  /** A message published while disconnected is lost, so waiters are also woken after each reconnection. */
  onReleased(wake: () => void): () => void {
    this.wakes.add(wake);
    this.listen();
    return () => this.wakes.delete(wake);
  }

  /** Closes the connections. */
  close(): void {
    this.wakes.clear();
    this.links.close();
  }

  private listen(): void {
    if (this.isListening) return;
    this.isListening = true;
    const { listener, releasedChannel } = this.links;
    listener.on('message', (channel: string) => {
      if (channel === releasedChannel) for (const wake of [...this.wakes]) wake();
    });
    let wasReady = listener.status === 'ready';
    listener.on('ready', () => {
      if (wasReady) for (const wake of [...this.wakes]) wake();
      wasReady = true;
    });
    // Rejects only if we close the connection; the client resubscribes after each reconnect.
    listener.subscribe(releasedChannel).catch(() => undefined);
  }

  private run<Reply>(script: LuaScript<Reply>, args: readonly (string | number)[]): Promise<Reply> {
    return script.run(this.links.commands, [this.links.key], args);
  }
}

interface LeaseFields {
  readonly holder: string;
  readonly epoch: number;
  readonly durationMs: number;
  readonly acquiredUs: string;
  readonly renewedUs: string;
  /** Together with its epoch. */
  readonly witness: string;
}

function toRecord(fields: LeaseFields): LeaderElectionRecord {
  const { acquiredUs, durationMs, epoch, holder, renewedUs, witness } = fields;
  const ofThisEpoch = `${epoch} `;
  return {
    holderIdentity: holder,
    leaseDurationSeconds: durationMs / 1000,
    acquireTime: toMicroTime(acquiredUs),
    renewTime: toMicroTime(renewedUs),
    leaderTransitions: epoch,
    witness: witness.startsWith(ofThisEpoch) ? witness.slice(ofThisEpoch.length) : '',
  };
}

function toMicroTime(epochUs: string): string {
  const seconds = toRfc3339(Math.floor(Number(epochUs) / 1e6) * 1000);
  return seconds.replace(/Z$/, `.${epochUs.slice(-6)}Z`);
}
