import type { Request } from 'express';
import { Inject, Injectable } from '@nestjs/common';
import { SealedSessions, SignInCodes, isSession } from '../sign-in/index.js';
import { AdminPorts } from './admin-ports.js';

/** How a request shows who it comes from. */
export type ShownIdentity = 'none' | 'token' | 'session' | 'ended-session';

/** Signs browsers in: codes of links, and the sessions that they are exchanged for. */
@Injectable()
export class BrowserSessions {
  readonly codes: SignInCodes;
  readonly sessions: SealedSessions;

  constructor(@Inject(AdminPorts) { clock, token }: AdminPorts) {
    this.codes = new SignInCodes(clock);
    this.sessions = new SealedSessions(clock, token);
  }

  /** Puts the token of a session in its place: from here on the request is as if it came with the token itself. */
  admit(request: Request): ShownIdentity {
    const shown = bearerOf(request);
    if (shown === undefined) return 'none';
    if (!isSession(shown)) return 'token';
    const token = this.sessions.open(shown);
    if (token === undefined) return 'ended-session';
    request.headers.authorization = `Bearer ${token}`;
    return 'session';
  }
}

/** The secret of a request with `Authorization: Bearer`. */
export function bearerOf({ headers }: Pick<Request, 'headers'>): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}
