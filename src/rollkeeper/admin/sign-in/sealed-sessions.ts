import type { Clock } from '@rollkeeper/machinery/clock';
import type { AskingOne } from '../delegated-access/index.js';
import { SealedBox } from './sealed-box.js';

/** The prefix of every session. It distinguishes a session from a token without decrypting anything. */
const PREFIX = 'rkc1.';
/** A day's work. */
export const SESSION_LASTS_MS = 12 * 3_600_000;

/** The limits of a session. */
interface SessionLimits {
  /** Reading this path of the admin API alone. Absent: everything that its user may. */
  readonly onlyReads?: string | undefined;
}

/** Whether it has the form of a session. */
export function isSession(secret: string): boolean {
  return secret.startsWith(PREFIX);
}

/**
 * Sessions of browsers: the user and the end of the session, sealed. The browser cannot read the token, and every replica with
 * the same admin token can open the session, also after a restart. Nothing is kept here.
 */
export class SealedSessions {
  private readonly box: SealedBox<AskingOne & SessionLimits>;

  /** @param secret what replicas have in common. Absent: sessions are good for this process alone */
  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    secret: string | undefined,
  ) {
    this.box = new SealedBox(clock, { purpose: 'console session', prefix: PREFIX, secret });
  }

  /** @param latestMs the session ends then at the latest @default as late as a session may */
  seal(
    who: AskingOne,
    { latestMs = Infinity, onlyReads }: SessionLimits & { readonly latestMs?: number } = {},
  ): { readonly session: string; readonly endsMs: number } {
    const endsMs = Math.min(latestMs, this.clock.now() + SESSION_LASTS_MS);
    return { session: this.box.seal({ ...who, onlyReads }, endsMs), endsMs };
  }

  /** Undefined: it has ended, or another key sealed it. */
  open(session: string): (AskingOne & SessionLimits & { readonly endsMs: number }) | undefined {
    return this.box.open(session);
  }
}
