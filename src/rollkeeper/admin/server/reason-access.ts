import { ExpiringMap } from '@rollkeeper/machinery/clock';
import type { AccessQuestion } from '../delegated-access/index.js';
import type { AdminPorts } from './admin-ports.js';
import type { AccessRules, RequestFacts } from './decide-access.js';
import { decideAccess } from './decide-access.js';
import { GUESS_LIMITS, RequestLimiter } from './request-limiter.js';

/** Longer than the pause that {@link GUESS_LIMITS} demand, so that a lock has ended by itself before it is forgotten. */
const LOCKED_AT_MOST_MS = 60_000;

/** Reasons need the same right as this page. */
const AS_IF_READING = '/admin/status';

/**
 * Health pages are public, the reasons on them are not: an error names hosts and more. Reasons are for clients that may
 * read the admin pages. Wrong tokens count here too, or these pages could be used to guess one.
 */
export class ReasonAccess {
  private readonly guesses: RequestLimiter;
  private readonly locked: ExpiringMap<true>;
  private readonly rules: AccessRules;

  constructor(private readonly ports: Pick<AdminPorts, 'clock' | 'token' | 'delegated'>) {
    this.guesses = new RequestLimiter(ports.clock, GUESS_LIMITS);
    this.locked = new ExpiringMap(() => ports.clock.monotonicNow(), LOCKED_AT_MOST_MS);
    this.rules = { token: ports.token, delegated: ports.delegated !== undefined };
  }

  async maySeeReasons(facts: RequestFacts): Promise<boolean> {
    const decision = decideAccess({ ...facts, method: 'GET', path: AS_IF_READING }, this.rules);
    if (decision.decision === 'allow') return !this.isLocked(facts);
    if (decision.decision === 'ask') return !this.isLocked(facts) && this.ask(decision.question, facts);
    if (decision.guess) this.noteGuess(facts);
    return false;
  }

  private async ask(question: AccessQuestion, facts: RequestFacts): Promise<boolean> {
    const answer = await this.ports.delegated?.judge(question);
    if (answer?.verdict === 'unauthenticated') this.noteGuess(facts);
    return answer?.verdict === 'allowed';
  }

  private noteGuess({ remoteAddress = '' }: RequestFacts): void {
    if (this.guesses.take(remoteAddress) > 0) this.locked.set(remoteAddress, true, LOCKED_AT_MOST_MS);
  }

  /** After too many wrong tokens, a right one must not be distinguishable. */
  private isLocked({ authorization, remoteAddress = '' }: RequestFacts): boolean {
    if (authorization === undefined || !this.locked.get(remoteAddress)) return false;
    if (this.guesses.take(remoteAddress) > 0) return true;
    this.locked.delete(remoteAddress);
    return false;
  }
}
