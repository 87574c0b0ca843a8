import type { Request } from 'express';
import { Inject, Injectable } from '@nestjs/common';
import type { UserInfo } from '../delegated-access/index.js';
import { SealedSessions, SignInCodes, isSession } from '../sign-in/index.js';
import { AdminPorts } from './admin-ports.js';

/** How a request shows who it comes from. */
export type ShownIdentity =
  | { readonly by: 'nothing' | 'token' | 'ended-session'; readonly user?: undefined }
  /** Of a user whom a replica has authenticated; otherwise the session is that of a token. */
  | { readonly by: 'session'; readonly user?: UserInfo };

/** Signs browsers in: codes of links, and the sessions that they are exchanged for. */
@Injectable()
export class BrowserSessions {
  readonly codes: SignInCodes;
  readonly sessions: SealedSessions;

  constructor(@Inject(AdminPorts) { clock, token }: AdminPorts) {
    this.codes = new SignInCodes(clock);
    this.sessions = new SealedSessions(clock, token);
  }

  /**
   * Puts the token of a session in its place: from here on the request is as if it came with the token itself. One of a
   * user has none, and goes on without.
   */
  admit(request: Request): ShownIdentity {
    const shown = bearerOf(request);
    if (shown === undefined) return { by: 'nothing' };
    if (!isSession(shown)) return { by: 'token' };
    const who = this.sessions.open(shown);
    if (who === undefined) return { by: 'ended-session' };
    if (who.user) {
      delete request.headers.authorization;
      return { by: 'session', user: who.user };
    }
    request.headers.authorization = `Bearer ${who.token}`;
    return { by: 'session' };
  }
}

/** The secret of a request with `Authorization: Bearer`. */
export function bearerOf({ headers }: Pick<Request, 'headers'>): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}
