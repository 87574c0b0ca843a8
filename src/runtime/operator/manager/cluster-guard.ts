import { abortable } from '@rollkeeper/machinery/cancellation';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import { Namespace } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { apiStatusOf } from '@rollkeeper/client/api-client';
import { Backoff } from '@rollkeeper/client/informer';
import type { Runnable } from '../../manager/index.js';
import type { ClusterClaims } from '../coordination/coordination.js';

export interface ClusterGuardOptions {
  readonly claims: ClusterClaims;
  readonly client: Pick<ApiClient, 'get'>;
  /** The prefix of the installation's keys, for messages. */
  readonly keyPrefix: string;
  /** The cluster's identity. @default the UID of its namespace `kube-system` */
  readonly identity?: string | undefined;
  /** The former cluster, whose keys become this cluster's. @default none */
  readonly replaces?: string | undefined;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/** The identity of a cluster, or why it is unknown. */
type Identity = { readonly id: string } | { readonly id?: undefined; readonly why: string };

const KUBE_SYSTEM = { name: 'kube-system' };
const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 5000;
/** How long a start waits for an API that does not answer, before it continues without an answer. */
const FIRST_LOOK_MS = 3000;
/** Redis may have been emptied in the meantime. */
const CLAIM_AGAIN_MS = 10_000;

/**
 * Prevents replicas for different clusters from sharing keys: the first replica claims them for its cluster, and one of
 * another cluster is refused.
 */
export class ClusterGuard implements Runnable {
  private entered: Promise<string | undefined> | undefined;

  constructor(private readonly options: ClusterGuardOptions) {}

  /**
   * Enters if the API reports its identity soon enough; otherwise that is left to {@link enter}.
   * @throws StartupError if the keys belong to another cluster
   */
  async enterSoon(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    const entering = this.enter(signal);
    const patience = new AbortController();
    const soon = pause(clock, FIRST_LOOK_MS, patience.signal);
    try {
      await Promise.race([entering, soon]);
    } finally {
      patience.abort();
      // Awaited by `enter` later.
      entering.catch(() => undefined);
    }
  }

  /** Waits until the cluster is known and owns the keys. @throws StartupError if they belong to another one */
  async enter(signal: AbortSignal): Promise<void> {
    this.entered ??= this.takeKeys(signal);
    await this.entered;
  }

  /** Renews the claim periodically. Rejects if another cluster has the keys. */
  async run(signal: AbortSignal): Promise<void> {
    const { claims, clock, logger } = this.options;
    try {
      await this.enter(signal);
      const id = await this.entered;
      for (;;) {
        await clock.sleep(CLAIM_AGAIN_MS, signal);
        if (id === undefined) continue;
        const owner = await claims.claim(id).catch((error: unknown) => {
          logger.debug('could not see whose the keys are', { error });
          return id;
        });
        if (owner !== id) throw this.refusal(owner, id);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  private async takeKeys(signal: AbortSignal): Promise<string | undefined> {
    const { claims, identity, logger, replaces } = this.options;
    const found: Identity =
      identity === undefined ? await this.retry(() => this.readIdentity(signal), signal) : { id: identity };
    const owner = await this.retry(() => claims.owner(), signal);
    const { id } = found;
    if (id === undefined) {
      if (owner !== undefined) throw this.unknown(owner, found.why);
      logger.warn('the keys in Redis are not guarded against replicas that work for another cluster', {
        keyPrefix: this.options.keyPrefix,
        reason: found.why,
      });
      return undefined;
    }
    const isReplacement = replaces !== undefined && owner === replaces && replaces !== id;
    const now = await this.retry(
      () => (isReplacement ? claims.replace(replaces, id, signal) : claims.claim(id)),
      signal,
    );
    if (now !== id) throw this.refusal(now, id);
    if (isReplacement)
      logger.warn("the keys were those of another cluster, and are this one's now", {
        former: owner,
        cluster: id,
      });
    return id;
  }

  private async readIdentity(signal: AbortSignal): Promise<Identity> {
    try {
      const { metadata } = await abortable(
        this.options.client.get<Namespace>(Namespace, KUBE_SYSTEM, { signal }),
        signal,
      );
      return metadata.uid ? { id: metadata.uid } : { why: 'its namespace kube-system has no UID' };
    } catch (error) {
      const code = apiStatusOf(error)?.code;
      if (code === 403) return { why: 'this account may not get the namespace kube-system' };
      if (code === 404) return { why: 'the cluster has no namespace kube-system' };
      throw error;
    }
  }

  private async retry<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, logger, random } = this.options;
    const backoff = new Backoff({ firstMs: FIRST_RETRY_MS, maxMs: LONGEST_RETRY_MS }, random);
    for (;;) {
      signal.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        if (signal.aborted || error instanceof StartupError) throw error;
        logger.warn("cannot see yet whether the keys in Redis are this cluster's", {
          error: errorMessage(error),
        });
        await clock.sleep(backoff.nextMs(), signal);
      }
    }
  }

  private refusal(owner: string, id: string): StartupError {
    const { identity, keyPrefix } = this.options;
    const by = identity === undefined ? 'the UID of its namespace kube-system' : 'as its identity was given';
    return new StartupError(
      `the keys "${keyPrefix}" in Redis are of the cluster ${owner}, and this is the cluster ${id} (${by}): two clusters would take each other's keys. Use another key prefix; or, where ${owner} is gone, or has become this one, start once with --replaces-cluster ${owner} (cluster.replaces in createManager)`,
    );
  }

  private unknown(owner: string, why: string): StartupError {
    return new StartupError(
      `the keys "${this.options.keyPrefix}" in Redis are of the cluster ${owner}, and whether this is that cluster cannot be seen: ${why}. Let the account get it, or say --cluster-identity ${owner} (cluster.identity in createManager) if it is`,
    );
  }
}
