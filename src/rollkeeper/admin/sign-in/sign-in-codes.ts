import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '@rollkeeper/machinery/clock';

/** A link is clicked soon, or asked for again. */
export const CODE_LASTS_MS = 5 * 60_000;
const CODE_BYTES = 32;
/** More at once make the oldest useless. */
const MOST = 100;

interface Promised {
  readonly token: string;
  readonly endsMs: number;
}

/** Codes that are good once and for a few minutes, each for a token. Of the codes themselves only digests are kept. */
export class SignInCodes {
  private readonly promised = new Map<string, Promised>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  issue(token: string): { readonly code: string; readonly endsMs: number } {
    const nowMs = this.clock.now();
    for (const [digest, { endsMs }] of this.promised) if (endsMs <= nowMs) this.promised.delete(digest);
    const [oldest] = this.promised.keys();
    if (this.promised.size >= MOST && oldest !== undefined) this.promised.delete(oldest);
    const code = randomBytes(CODE_BYTES).toString('base64url');
    const endsMs = nowMs + CODE_LASTS_MS;
    this.promised.set(digestOf(code), { token, endsMs });
    return { code, endsMs };
  }

  /** The token; the code is useless from now on. Undefined: it was used, has ended, or never was one. */
  redeem(code: string): string | undefined {
    const digest = digestOf(code);
    const promised = this.promised.get(digest);
    this.promised.delete(digest);
    return promised && promised.endsMs > this.clock.now() ? promised.token : undefined;
  }
}

function digestOf(code: string): string {
  return createHash('sha256').update(code).digest('hex');
}

/** The answer of `POST /admin/sign-in`. */
export interface SignInCode {
  readonly code: string;
  /** RFC 3339. */
  readonly ends: string;
}

/**
 * The address that signs a browser in. The code is in the fragment, which browsers send to no server and write into no
 * `Referer`.
 */
export function signInLink(adminUrl: string, { code }: Pick<SignInCode, 'code'>): string {
  return `${new URL('/console', adminUrl).href}#sign-in=${code}`;
}
