import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import type { Clock } from '../clock/index.js';
import { decideAccess } from './decide-access.js';
import { GUESS_LIMITS, REQUEST_LIMITS, RequestLimiter } from './request-limiter.js';

export interface AccessOptions {
  readonly clock: Clock;
  readonly token?: string;
}

const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];
const PROBES = /^\/(livez|readyz|healthz|metrics)(\/|$)/;

/**
 * In front of every page of the admin port: headers that keep a browser from doing harm, a limit on requests, and
 * who may do what ({@link decideAccess}). Probes and scrapes are never limited.
 */
export function guardAdminPages({ clock, token }: AccessOptions): RequestHandler[] {
  const requests = new RequestLimiter(clock, REQUEST_LIMITS);
  const guesses = new RequestLimiter(clock, GUESS_LIMITS);
  return [secureHeaders(), limitAndDecide];

  function limitAndDecide(request: Request, response: Response, next: NextFunction): void {
    const address = request.socket.remoteAddress ?? '';
    const waitMs = PROBES.test(request.path) ? 0 : requests.take(address);
    if (waitMs > 0) return refuse(response, 429, 'too many requests', waitMs);
    const decision = decideAccess(factsOf(request), token);
    if (decision.allowed) return next();
    const lockedMs = decision.guess ? guesses.take(address) : 0;
    if (lockedMs > 0) return refuse(response, 429, 'too many wrong tokens', lockedMs);
    refuse(response, decision.status, decision.why);
  }
}

function secureHeaders(): RequestHandler {
  const self = ["'self'"];
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: self,
        styleSrc: self,
        imgSrc: self,
        connectSrc: self,
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    // Plain HTTP, most often on loopback: there is nothing to upgrade to.
    strictTransportSecurity: false,
  });
}

/** What {@link decideAccess} needs to know. */
export function factsOf(request: Request): Parameters<typeof decideAccess>[0] {
  const { authorization, host, origin } = request.headers;
  return {
    method: request.method,
    path: request.path,
    remoteAddress: request.socket.remoteAddress,
    host,
    origin,
    authorization,
    forwarded: PROXY_HEADERS.some((name) => request.headers[name] !== undefined),
  };
}

function refuse(response: Response, status: number, why: string, waitMs = 0): void {
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer realm="rollkeeper"');
  if (waitMs > 0) response.setHeader('Retry-After', String(Math.ceil(waitMs / 1000)));
  response.setHeader('Cache-Control', 'no-store');
  response.status(status).json({ error: why });
}
