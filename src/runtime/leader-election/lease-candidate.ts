import { LinkedAbort, abortable } from '@rollkeeper/machinery/cancellation';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isAlreadyExists, isConflict, isNotFound } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { keepFollowing, toRfc3339Micro } from '@rollkeeper/machinery/clock';
import { IllegalStateError, TimeoutError, errorMessage } from '@rollkeeper/machinery/errors';
import { LeaseCandidate, apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';

export interface LeaseCandidacyOptions {
  readonly client: Pick<ApiClient, 'get' | 'list' | 'watch' | 'create' | 'update' | 'delete'>;
  readonly namespace: string;
  /** Name of the candidate: our identity in the Lease. */
  readonly name: string;
  /** The Lease that we are a candidate for. */
  readonly leaseName: string;
  /** Our release, as semver. */
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Among the candidates for a lease, the oldest release leads; among equals, the longest-standing candidate. */
const STRATEGY = 'OldestEmulationVersion';
/** As in client-go: a candidate that is not renewed for half an hour is collected. */
const RENEW_EVERY_MS = 300_000;
const WATCH_TIMEOUT_SECONDS = 240;
const IDLE_TIMEOUT_MS = 300_000;
const PAUSES = { firstMs: 1000, longestMs: 10_000, healthyAfterMs: 5000 };
/** A renewal fails after this many conflicts, and is retried after a pause. */
const MAX_CONFLICTS = 5;
const WITHDRAW_WITHIN_MS = 1000;

/**
 * Registers as a candidate for a Lease with a LeaseCandidate, for coordinated leader election (KEP-4355): announces our
 * release, and answers the coordinator's pings. The API server runs the election itself.
 *
 * If the API has no candidates ({@link isSupported} false), or we may not create one, the election is not coordinated.
 */
export class LeaseCandidacy {
  private supported: boolean | undefined;
  private resolveAsked: () => void = () => undefined;
  private readonly asked = new Promise<void>((resolve) => (this.resolveAsked = resolve));
  private hasRun = false;

  constructor(private readonly options: LeaseCandidacyOptions) {}

  /** Whether the API has candidates, once it has answered. */
  async isSupported(signal?: AbortSignal): Promise<boolean> {
    if (this.supported === undefined) await abortable(this.asked, signal);
    return this.supported === true;
  }

  /**
   * Keeps the candidate until aborted, then withdraws it. Never rejects except if called twice.
   * @throws IllegalStateError
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.hasRun) throw new IllegalStateError('the candidacy has been run already');
    this.hasRun = true;
    const { clock, logger, name } = this.options;
    const round = async (): Promise<'over' | void> => {
      this.supported ??= await this.ask(signal);
      return this.supported ? this.stand(signal) : 'over';
    };
    const onFailure = (error: unknown): void =>
      logger.warn('standing for the leader lease failed; trying again', {
        candidate: name,
        error: errorMessage(error),
      });
    await keepFollowing(round, { clock, ...PAUSES, onFailure }, signal);
    if (this.supported) await this.withdraw();
  }

  /** Whether the API has candidates: a namespace without any has an empty list. */
  private async ask(signal: AbortSignal): Promise<boolean> {
    const { client, logger, namespace } = this.options;
    const isSupported = await client.list(LeaseCandidate, { namespace, limit: 1, signal }).then(
      () => true,
      (error: unknown) => {
        if (!isNotFound(error)) throw error;
        return false;
      },
    );
    if (!isSupported)
      logger.warn('the API knows no LeaseCandidates: the leader is elected without coordination');
    this.supported = isSupported;
    this.resolveAsked();
    return isSupported;
  }

  /** Until the watch ends, or it is time for another renewal. */
  private async stand(signal: AbortSignal): Promise<void> {
    const { client, clock, name, namespace } = this.options;
    const { resourceVersion = '' } = (await this.renew(signal)).metadata;
    const round = new LinkedAbort(signal);
    const timer = clock.setTimeout(() => round.abort(new TimeoutError('time to renew')), RENEW_EVERY_MS);
    try {
      const events = client.watch<LeaseCandidate>(LeaseCandidate, {
        ...{ namespace, fieldSelector: `metadata.name=${name}`, resourceVersion },
        ...{ timeoutSeconds: WATCH_TIMEOUT_SECONDS, idleTimeoutMs: IDLE_TIMEOUT_MS, signal: round.signal },
      });
      for await (const event of events) {
        if (event.type === 'BOOKMARK' || event.object.metadata.name !== name) continue;
        if (event.type === 'DELETED' || isAsked(event.object)) await this.renew(signal);
      }
    } catch (error) {
      if (!round.signal.aborted) throw error;
    } finally {
      timer.cancel();
      round.close();
    }
  }

  /** Renews our candidate. Recreates it if it was deleted. */
  private async renew(signal: AbortSignal): Promise<LeaseCandidate> {
    const { client, clock, name, namespace } = this.options;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const renewTime = toRfc3339Micro(clock.now());
      try {
        const present = await client.get<LeaseCandidate>(LeaseCandidate, { namespace, name }, { signal });
        const renewed = { ...present, spec: { ...present.spec, renewTime } };
        return await client.update<LeaseCandidate>(LeaseCandidate, renewed, { signal });
      } catch (error) {
        if (isConflict(error)) continue;
        if (!isNotFound(error)) throw error;
      }
      try {
        return await client.create<LeaseCandidate>(LeaseCandidate, this.candidate(renewTime), { signal });
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    }
    throw new TimeoutError(
      `the candidate ${name} was changed by others ${MAX_CONFLICTS} times while we tried`,
    );
  }

  private candidate(renewTime: string): LeaseCandidate {
    const { leaseName, name, namespace, version } = this.options;
    return {
      apiVersion: apiVersionOf(LeaseCandidate),
      kind: LeaseCandidate.kind,
      metadata: { namespace, name },
      spec: { leaseName, binaryVersion: version, emulationVersion: version, strategy: STRATEGY, renewTime },
    };
  }

  /** Best effort: otherwise the coordinator finds out by pinging, and collects what is left. */
  private async withdraw(): Promise<void> {
    const { client, clock, name, namespace } = this.options;
    const limit = new AbortController();
    const timer = clock.setTimeout(() => limit.abort(new Error('no time left')), WITHDRAW_WITHIN_MS);
    await client.delete(LeaseCandidate, { namespace, name }, { signal: limit.signal }).catch(() => undefined);
    timer.cancel();
  }
}

function isAsked({ spec }: LeaseCandidate): boolean {
  return spec.pingTime !== undefined && (spec.renewTime === undefined || spec.pingTime > spec.renewTime);
}
