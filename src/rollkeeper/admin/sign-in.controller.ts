import {
  Body,
  Controller,
  ForbiddenException,
  Header,
  HttpCode,
  Inject,
  Post,
  Req,
  Res,
  UnauthorizedException,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { SignInCode } from '../sign-in/index.js';
import { cameBySession } from './access.middleware.js';
import { AdminPorts } from './admin-ports.js';
import { BrowserSessions, bearerOf } from './browser-sessions.js';
import { parseBody } from './request-parsing.js';

const EXCHANGE = z.strictObject({ code: z.string().min(1).max(100) });

/** What a browser keeps, in the memory of its tab. */
export interface BrowserSession {
  readonly session: string;
  /** RFC 3339. */
  readonly ends: string;
}

/** Signs a browser in with a link, so that no token has to be pasted. */
@Controller('admin/sign-in')
export class SignInController {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(BrowserSessions) private readonly browsers: BrowserSessions,
  ) {}

  /** A code for the token that the request comes with: for a holder of the token itself, so that no session prolongs itself. */
  @Post()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  issue(@Req() request: Request, @Res({ passthrough: true }) response: Response): SignInCode {
    const token = bearerOf(request);
    if (token === undefined) throw new UnauthorizedException({ error: 'signing in needs a token' });
    if (cameBySession(response))
      throw new ForbiddenException({ error: 'a session cannot make another one; use the token' });
    const { code, endsMs } = this.browsers.codes.issue(token);
    return { code, ends: toRfc3339(endsMs) };
  }

  /** The session for a code. The code itself is the proof. */
  @Post('exchange')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  exchange(@Body() body: unknown, @Req() request: Request): BrowserSession {
    const { code } = parseBody(EXCHANGE, body);
    const token = this.browsers.codes.redeem(code);
    if (token === undefined)
      throw new UnauthorizedException({
        error: 'this link was used, or is older than five minutes; `rollkeeper console` prints another one',
      });
    const { endsMs, session } = this.browsers.sessions.seal({ token });
    this.ports.logger.info('a browser was signed in', { from: request.socket.remoteAddress });
    return { session, ends: toRfc3339(endsMs) };
  }
}
