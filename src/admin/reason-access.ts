import type { Clock } from '../clock/index.js';
import type { RequestFacts } from './decide-access.js';
import { decideAccess } from './decide-access.js';
import { GUESS_LIMITS, RequestLimiter } from './request-limiter.js';

/** Who sees why a check fails, may read this as well: one rule for both. */
const AS_IF_READING = '/admin/status';

/**
 * Health pages are for anybody, the reasons on them are not: an error names hosts and more. Reasons are for those who may
 * read the admin pages. Wrong tokens are counted here too, or these pages would be the place to guess one.
 */
export class ReasonAccess {
  private readonly guesses: RequestLimiter;

  constructor(
    clock: Clock,
    private readonly token: string | undefined,
  ) {
    this.guesses = new RequestLimiter(clock, GUESS_LIMITS);
  }

  maySeeReasons(facts: RequestFacts): boolean {
    const decision = decideAccess({ ...facts, method: 'GET', path: AS_IF_READING }, this.token);
    if (decision.allowed) return !this.isLocked(facts);
    if (decision.guess) this.noteGuess(facts);
    return false;
  }

  private readonly locked = new Set<string>();

  private noteGuess({ remoteAddress = '' }: RequestFacts): void {
    if (this.guesses.take(remoteAddress) > 0) this.locked.add(remoteAddress);
  }

  /** A right token after too many wrong ones must not be told from another wrong one. */
  private isLocked({ authorization, remoteAddress = '' }: RequestFacts): boolean {
    if (authorization === undefined || !this.locked.has(remoteAddress)) return false;
    if (this.guesses.take(remoteAddress) > 0) return true;
    this.locked.delete(remoteAddress);
    return false;
  }
}
