import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { Inject, Injectable } from '@nestjs/common';
import type { AskingOne, UserInfo } from '../delegated-access/index.js';
import { isReservedUser } from '../oidc/index.js';
import { SealedBox, SealedSessions, SignInCodes, isSession } from '../sign-in/index.js';
import type { SingleUses } from './admin-ports.js';
import { AdminPorts } from './admin-ports.js';
import type { Clock } from '@rollkeeper/machinery/clock';
import { ExpiringMap } from '@rollkeeper/machinery/clock';

/** Values that may be used once, for a replica that shares no Redis with others. */
class MemorySingleUses implements SingleUses {
  private readonly used: ExpiringMap<true>;

  /** @param longestMs as long as anything is remembered, milliseconds */
  constructor(clock: Pick<Clock, 'monotonicNow'>, longestMs: number) {
    this.used = new ExpiringMap(() => clock.monotonicNow(), longestMs);
  }

  async isFirst(digest: string, rememberedMs: number): Promise<boolean> {
    if (this.used.get(digest)) return false;
    this.used.set(digest, true, rememberedMs);
    return true;
  }
}

/** How a request shows its user. */
type ShownIdentity =
  { readonly by: 'nothing' | 'token' | 'ended-session'; readonly user?: undefined } | ShownSession;

export interface ShownSession {
  readonly by: 'session';
  /** As the browser sent it; any replica with the same admin token can open it. */
  readonly sealed: string;
  /** The user whom a replica has authenticated. Absent: the session is that of a token. */
  readonly user?: UserInfo;
  /** Reading this path is all that it is good for. Absent: it has no such limit. */
  readonly onlyReads?: string | undefined;
  readonly endsMs: number;
}

/** The path that the ticket to another console is good for, once that has exchanged it. */
const HANDED_OVER_READS = '/admin/problems';
const TICKET_LASTS_MS = 60_000;

interface HandedOver {
  readonly who: AskingOne;
  readonly sessionEndsMs: number | null;
}

/** Signs browsers in: codes of links, and the sessions that they are exchanged for. */
@Injectable()
export class BrowserSessions {
  readonly codes: SignInCodes;
  readonly sessions: SealedSessions;
  private readonly tickets: SealedBox<HandedOver>;
  private readonly uses: SingleUses;

  constructor(@Inject(AdminPorts) private readonly ports: AdminPorts) {
    const { clock, singleUses, token } = ports;
    this.uses = singleUses ?? new MemorySingleUses(clock, TICKET_LASTS_MS);
    this.codes = new SignInCodes(clock);
    this.sessions = new SealedSessions(clock, token);
    this.tickets = new SealedBox(clock, { purpose: 'console hand-over', prefix: 'rkh1.', secret: token });
  }

  /**
   * The ticket by which another console shows the person's rights here: soon exchanged for a session that reads
   * problems alone.
   */
  ticketFor(who: AskingOne, sessionEndsMs: number | undefined): string {
    const handedOver = { who, sessionEndsMs: sessionEndsMs ?? null };
    return this.tickets.seal(handedOver, this.ports.clock.now() + TICKET_LASTS_MS);
  }

  /** Undefined: the ticket is too old, was used, or is not ours. @throws what the shared store answers */
  async sessionFor(
    ticket: string,
  ): Promise<{ readonly session: string; readonly endsMs: number } | undefined> {
    const handedOver = this.tickets.open(ticket);
    if (!handedOver) return undefined;
    const digest = createHash('sha256').update(ticket).digest('base64url');
    if (!(await this.uses.isFirst(digest, TICKET_LASTS_MS))) return undefined;
    const { sessionEndsMs, who } = handedOver;
    return this.sessions.seal(who, {
      onlyReads: HANDED_OVER_READS,
      ...(sessionEndsMs !== null && { latestMs: sessionEndsMs }),
    });
  }

  /**
   * Puts the token of a session in its place: from here on the request is as if it came with the token itself. The session of a
   * user has none, and the request continues without.
   */
  admit(request: Request): ShownIdentity {
    const shown = bearerOf(request);
    if (shown === undefined) return { by: 'nothing' };
    if (!isSession(shown)) return { by: 'token' };
    const who = this.sessions.open(shown);
    if (who === undefined || !this.isHonoured(who)) return { by: 'ended-session' };
    const { endsMs, onlyReads } = who;
    if (who.user) {
      delete request.headers.authorization;
      return { by: 'session', sealed: shown, user: who.user, endsMs, onlyReads };
    }
    request.headers.authorization = `Bearer ${who.token}`;
    return { by: 'session', sealed: shown, endsMs, onlyReads };
  }

  /** A user's session needs a replica that impersonates, and is never one of the cluster's own users, regardless of who sealed it. */
  private isHonoured({ user }: AskingOne): boolean {
    return user === undefined || (this.ports.oidc?.impersonates === true && !isReservedUser(user));
  }
}

/** The secret of a request with `Authorization: Bearer`. */
export function bearerOf({ headers }: Pick<Request, 'headers'>): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}
