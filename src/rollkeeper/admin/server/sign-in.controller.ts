import {
  Body,
  Controller,
  ForbiddenException,
  Get,
  Header,
  HttpCode,
  Inject,
  Post,
  Query,
  Req,
  Res,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { SignInCode } from '../sign-in/index.js';
import { isSignedIn, personOf, sessionOf } from './access.middleware.js';
import { AdminPorts } from './admin-ports.js';
import { BrowserSessions, bearerOf } from './browser-sessions.js';
import { parseBody } from './request-parsing.js';
import { Shows } from './route-sight.js';

const EXCHANGE = z.strictObject({ code: z.string().min(1).max(100) });

const TAKE_OVER = z.strictObject({ ticket: z.string().min(1).max(12_000) });

interface HandOver {
  readonly ticket: string;
  /** The name of the console that it is for. */
  readonly name: string;
}

/** The session that a browser keeps, in the memory of its tab. */
export interface BrowserSession {
  readonly session: string;
  /** RFC 3339. */
  readonly ends: string;
}

/** Signs a browser in with a link, so that no token has to be pasted. */
@Controller('admin/sign-in')
@Shows('caller')
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
    if (sessionOf(response))
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

  /**
   * A ticket with which another console shows what is wrong here, and can do nothing. Only for consoles that this one
   * names itself: what has the ticket sees it with the rights of the person.
   * @param to the origin of that console
   */
  @Get('hand-over')
  @Header('Cache-Control', 'no-store')
  handOver(
    @Query('to') to: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): HandOver {
    const known = this.ports.clusters?.list.find(({ url }) => url === to);
    if (!known)
      throw new ForbiddenException({ error: 'that console is not one of --console-clusters of this one' });
    const user = personOf(response);
    const token = bearerOf(request);
    if (!isSignedIn(response) || (!user && token === undefined))
      throw new UnauthorizedException({ error: 'sign in here first' });
    const who = user ? { user } : { token: token ?? '' };
    return { ticket: this.browsers.ticketFor(who, sessionOf(response)?.endsMs), name: known.name };
  }

  /** The session for such a ticket, which is the proof. */
  @Post('take-over')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async takeOver(@Body() body: unknown, @Req() request: Request): Promise<BrowserSession> {
    const { ticket } = parseBody(TAKE_OVER, body);
    const sealed = await this.browsers.sessionFor(ticket).catch((error: unknown) => {
      this.ports.logger.warn('whether a ticket was used is not known', { error });
      throw new ServiceUnavailableException({ error: 'the store of this console does not answer' });
    });
    if (!sealed)
      throw new UnauthorizedException({
        error: 'this ticket was used, or is older than a minute; sign in there again',
      });
    this.ports.logger.info('another console was let read problems', { from: request.socket.remoteAddress });
    return { session: sealed.session, ends: toRfc3339(sealed.endsMs) };
  }
}
