import { createHash } from 'node:crypto';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { AskingOne } from '../delegated-access/index.js';
import { SESSION_LASTS_MS, SealedBox } from '../sign-in/index.js';
import type { IdentityProvider, Issued, SignInSecrets } from './oidc-provider.js';
import { ProviderUnavailableError, SignInRefusedError } from './oidc-provider.js';
import type { OidcOptions } from './oidc-options.js';
import { userOfClaims } from './user-of-claims.js';

/** A person has this long at the identity provider. */
const PENDING_LASTS_MS = 10 * 60_000;
/** Sign-ins that are remembered as used. */
const MOST_USED = 1000;
/** Requests to the provider at once. */
const MOST_UNDER_WAY = 20;

/** A sign-in that has begun. */
interface Pending extends SignInSecrets {
  /** The place in the console where the person was. */
  readonly returnTo: string;
}

/** The means by which a session is renewed. */
interface Renewable {
  readonly refreshToken: string;
  readonly sub: string;
}

/** The user that has signed in, and until when that is known. */
export interface SignInResult {
  readonly who: AskingOne;
  readonly endsMs: number;
  /** Sealed. Absent: the provider has given nothing to renew the session with. */
  readonly renewal?: string;
}

interface OidcSignInParts {
  readonly options: OidcOptions;
  readonly provider: IdentityProvider;
  readonly clock: Pick<Clock, 'now'>;
  /** The secret that replicas have in common. */
  readonly secret: string | undefined;
}

/**
 * Signs people in by an identity provider: authorization code with PKCE, state and nonce. The secrets of a sign-in go to
 * the browser sealed and come back with the provider's answer. So any replica can finish it, and only the tab that began
 * it: an answer that a foreign page has sent there has no secrets to go with.
 */
export class OidcSignIn {
  readonly issuerUrl: string;
  /** The address to which the provider sends browsers back. */
  readonly redirectUri: string;
  /** Whether its sessions are those of users, in whose name the replica asks. */
  readonly impersonates: boolean;
  private readonly pending: SealedBox<Pending>;
  private readonly renewals: SealedBox<Renewable>;
  /** Digests of states, and when they end anyway. */
  private readonly used = new Map<string, number>();
  private underWay = 0;

  constructor(private readonly parts: OidcSignInParts) {
    const { clock, options, secret } = parts;
    this.issuerUrl = options.claims.issuerUrl;
    this.redirectUri = options.redirectUri;
    this.impersonates = options.rights === 'impersonate';
    this.pending = new SealedBox(clock, { purpose: 'console sign-in', prefix: 'rkp1.', secret });
    this.renewals = new SealedBox(clock, { purpose: 'console renewal', prefix: 'rkr1.', secret });
  }

  /** @throws ProviderUnavailableError */
  async begin(returnTo: string): Promise<{ readonly pending: string; readonly address: string }> {
    const { address, secrets } = await this.bounded(() => this.parts.provider.begin());
    const endsMs = this.parts.clock.now() + PENDING_LASTS_MS;
    return { address, pending: this.pending.seal({ ...secrets, returnTo }, endsMs) };
  }

  /**
   * @param sealed what {@link begin} gave
   * @param answer the query with which the provider has sent the browser back
   * @throws SignInRefusedError, ClaimError, ProviderUnavailableError
   */
  async finish(sealed: string, answer: string): Promise<SignInResult & { readonly returnTo: string }> {
    const pending = this.pending.open(sealed);
    if (!pending) throw new SignInRefusedError('this sign-in took longer than ten minutes; begin again');
    this.useUp(pending);
    const issued = await this.bounded(() => this.parts.provider.redeem(answer, pending));
    const endsMs = this.parts.clock.now() + SESSION_LASTS_MS;
    return { ...this.resultOf(issued, endsMs), returnTo: pending.returnTo };
  }

  /** @throws SignInRefusedError, ClaimError, ProviderUnavailableError */
  async renew(sealed: string): Promise<SignInResult> {
    const renewable = this.renewals.open(sealed);
    if (!renewable) throw new SignInRefusedError('the session cannot be renewed any more: sign in again');
    const issued = await this.bounded(() => this.parts.provider.refresh(renewable.refreshToken));
    if (issued.claims['sub'] !== renewable.sub)
      throw new SignInRefusedError('the identity provider has renewed the session of another user');
    return this.resultOf(issued, renewable.endsMs);
  }

  /** The token that renewed a session renews it no more, if the provider can revoke that. */
  async end(sealed: string): Promise<void> {
    const renewable = this.renewals.open(sealed);
    if (renewable) await this.bounded(() => this.parts.provider.revoke(renewable.refreshToken));
  }

  close(): Promise<void> {
    return this.parts.provider.close();
  }

  /** @param latestMs it is renewed until then at the latest */
  private resultOf(issued: Issued, latestMs: number): SignInResult {
    const { claims, expiresMs, idToken, refreshToken } = issued;
    const { claims: rules, rights } = this.parts.options;
    const who = rights === 'token' ? { token: idToken } : { user: userOfClaims(claims, rules) };
    const endsMs = Math.min(expiresMs, latestMs);
    if (refreshToken === undefined) return { who, endsMs };
    const renewal = this.renewals.seal({ refreshToken, sub: String(claims['sub']) }, latestMs);
    return { who, endsMs, renewal };
  }

  /** Also where the provider would take a code twice. @throws SignInRefusedError */
  private useUp({ state }: SignInSecrets): void {
    const nowMs = this.parts.clock.now();
    for (const [digest, endsMs] of this.used) if (endsMs <= nowMs) this.used.delete(digest);
    const digest = createHash('sha256').update(state).digest('base64');
    if (this.used.has(digest)) throw new SignInRefusedError('this sign-in was used; begin again');
    const [oldest] = this.used.keys();
    if (this.used.size >= MOST_USED && oldest !== undefined) this.used.delete(oldest);
    this.used.set(digest, nowMs + PENDING_LASTS_MS);
  }

  private async bounded<T>(does: () => Promise<T>): Promise<T> {
    if (this.underWay >= MOST_UNDER_WAY)
      throw new ProviderUnavailableError('too many people are signing in at this moment');
    this.underWay++;
    try {
      return await does();
    } finally {
      this.underWay--;
    }
  }
}
