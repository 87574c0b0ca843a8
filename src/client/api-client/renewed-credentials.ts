import type { Clock } from '@rollkeeper/machinery/clock';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';
import type { CredentialHeaders, Credentials } from './cluster-connection.js';

/** Issued credentials. */
export interface Issued {
  readonly headers: CredentialHeaders;
  /** When to renew them, milliseconds since the epoch. @default only when the server refuses them */
  readonly renewAtMs?: number;
  /** Until then they are still used if renewing fails. @default renewAtMs */
  readonly expiresAtMs?: number;
}

/** Pause after a failed issue. Short, because all requests wait for it. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;
const YOUNG_MS = 2_000;

/**
 * Credentials with a limited lifetime: from a plugin, an identity provider, the cluster itself. Concurrent requests
 * share one issue; the result is cached until it expires or the server refuses it.
 */
export class RenewedCredentials implements Credentials {
  private current: Issued | undefined;
  private asking: Promise<Issued> | undefined;
  private failure: { readonly error: unknown; readonly untilMs: number } | undefined;
  private failures = 0;
  private issuedAtMs = 0;

  /** @param issue requests new ones; `headers` must be a new object each time */
  constructor(
    private readonly issue: () => Promise<Issued>,
    private readonly clock: Clock,
  ) {}

  async headers(): Promise<CredentialHeaders> {
    const { current } = this;
    if (current && !this.isOver(current.renewAtMs)) return current.headers;
    try {
      return (await this.renew()).headers;
    } catch (error) {
      if (current && current === this.current && !this.isOver(current.expiresAtMs ?? current.renewAtMs))
        return current.headers;
      throw error;
    }
  }

  invalidate(refused: CredentialHeaders): boolean {
    if (this.current?.headers !== refused) return true;
    // Credentials that were just issued are refused for another reason than their age.
    if (this.clock.monotonicNow() - this.issuedAtMs < YOUNG_MS) return false;
    this.current = undefined;
    return true;
  }

  private async renew(): Promise<Issued> {
    if (this.failure && this.clock.monotonicNow() < this.failure.untilMs) throw this.failure.error;
    this.asking ??= this.ask().finally(() => (this.asking = undefined));
    return this.asking;
  }

  private async ask(): Promise<Issued> {
    try {
      const issued = await this.issue();
      this.current = issued;
      this.issuedAtMs = this.clock.monotonicNow();
      this.failure = undefined;
      this.failures = 0;
      return issued;
    } catch (error) {
      const pauseMs = doublingDelayMs(this.failures++, {
        firstMs: FIRST_PAUSE_MS,
        longestMs: LONGEST_PAUSE_MS,
      });
      this.failure = { error, untilMs: this.clock.monotonicNow() + pauseMs };
      throw error;
    }
  }

  private isOver(atMs: number | undefined): boolean {
    return atMs !== undefined && this.clock.now() >= atMs;
  }
}
