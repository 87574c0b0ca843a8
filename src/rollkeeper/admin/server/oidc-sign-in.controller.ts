import {
  Body,
  ConflictException,
  Controller,
  Header,
  HttpCode,
  Inject,
  NotFoundException,
  Post,
  Req,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { OidcSignIn, SignInResult } from '../oidc/index.js';
import { ClaimError, ProviderUnavailableError, SignInRefusedError } from '../oidc/index.js';
import { AdminPorts } from './admin-ports.js';
import { BrowserSessions } from './browser-sessions.js';
import { parseBody } from './request-parsing.js';
import type { BrowserSession } from './sign-in.controller.js';
import { Shows } from './route-sight.js';

const sealed = z.string().min(1).max(12_000);
/** A query and a fragment, so that a person comes back to a view of the console and nowhere else. */
const VIEW = /^(\?[^#\p{Cc}]*)?(#[^\p{Cc}]*)?$/u;

const BEGIN = z.strictObject({
  returnTo: z.string().max(2000).regex(VIEW, 'must be a query and a fragment of the console'),
});
const EXCHANGE = z.strictObject({ pending: sealed, answer: z.string().min(1).max(4000) });
const RENEW = z.strictObject({ renewal: sealed });

/** The part of a session from an identity provider that a browser keeps. */
interface OidcSession extends BrowserSession {
  /** Sealed. Absent: the session cannot be renewed. */
  readonly renewal?: string;
}

/** Signs a browser in by an identity provider. Nothing is sent as a cookie: see docs/CONSOLE.md. */
@Controller('admin/sign-in/oidc')
@Shows('caller')
export class OidcSignInController implements OnModuleDestroy {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(BrowserSessions) private readonly browsers: BrowserSessions,
  ) {}

  async onModuleDestroy(): Promise<void> {
    await this.ports.oidc?.close();
  }

  /** Returns the address at which to sign in, and what to come back with. */
  @Post()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async begin(
    @Body() body: unknown,
    @Req() request: Request,
  ): Promise<{ readonly address: string; readonly pending: string }> {
    const oidc = this.provider();
    const { returnTo } = parseBody(BEGIN, body);
    const { host, origin } = new URL(oidc.redirectUri);
    // The provider sends the browser there, where what this page keeps is not to be found.
    if (request.headers.host !== host)
      throw new ConflictException({ error: `people sign in at ${origin}/console`, consoleUrl: origin });
    return this.answered(oidc.begin(returnTo), request);
  }

  /** The session for what the provider has answered. */
  @Post('exchange')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async exchange(
    @Body() body: unknown,
    @Req() request: Request,
  ): Promise<OidcSession & { readonly returnTo: string }> {
    const oidc = this.provider();
    const { answer, pending } = parseBody(EXCHANGE, body);
    const result = await this.answered(oidc.finish(pending, answer), request);
    const user = result.who.user?.username;
    this.ports.logger.info('a browser was signed in', {
      ...{ from: request.socket.remoteAddress, by: oidc.issuerUrl, user },
    });
    return { ...this.sessionOf(result), returnTo: result.returnTo };
  }

  /** The next session, while the provider still vouches for the person. */
  @Post('renew')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async renew(@Body() body: unknown, @Req() request: Request): Promise<OidcSession> {
    const oidc = this.provider();
    const { renewal } = parseBody(RENEW, body);
    return this.sessionOf(await this.answered(oidc.renew(renewal), request));
  }

  /** Signing out: the session is renewed no more. */
  @Post('end')
  @HttpCode(204)
  @Header('Cache-Control', 'no-store')
  async end(@Body() body: unknown, @Req() request: Request): Promise<void> {
    const oidc = this.provider();
    const { renewal } = parseBody(RENEW, body);
    await this.answered(oidc.end(renewal), request);
  }

  private sessionOf({ endsMs, renewal, who }: SignInResult): OidcSession {
    const sealedSession = this.browsers.sessions.seal(who, { latestMs: endsMs });
    return {
      session: sealedSession.session,
      ends: toRfc3339(sealedSession.endsMs),
      ...(renewal !== undefined && { renewal }),
    };
  }

  /** @throws NotFoundException */
  private provider(): OidcSignIn {
    const { oidc } = this.ports;
    if (!oidc) throw new NotFoundException({ error: 'no identity provider is named: --oidc-issuer-url' });
    return oidc;
  }

  /** @throws UnauthorizedException, ServiceUnavailableException */
  private async answered<T>(work: Promise<T>, request: Request): Promise<T> {
    try {
      return await work;
    } catch (error) {
      const isRefusal = error instanceof SignInRefusedError || error instanceof ClaimError;
      if (!isRefusal && !(error instanceof ProviderUnavailableError)) throw error;
      const from = request.socket.remoteAddress;
      this.ports.logger.warn('a browser was not signed in', { from, reason: error.message });
      if (isRefusal) throw new UnauthorizedException({ error: error.message });
      throw new ServiceUnavailableException({ error: error.message });
    }
  }
}
