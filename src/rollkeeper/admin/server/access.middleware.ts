import type { Socket } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import type { AccessQuestion, UserInfo } from '../delegated-access/index.js';
import type { AdminPorts } from './admin-ports.js';
import type { AccessDecision, AccessRules } from './decide-access.js';
import { decideAccess } from './decide-access.js';
import type { BrowserSessions, ShownSession } from './browser-sessions.js';
import { passedCaller } from './peer-client.js';
import { isOwnUser } from './peer-user.js';
import { GUESS_LIMITS, REQUEST_LIMITS, RequestLimiter } from './request-limiter.js';

type AccessOptions = Pick<
  AdminPorts,
  'clock' | 'logger' | 'token' | 'delegated' | 'openMetrics' | 'localReads'
>;

const CLIENT = 'rollkeeperClient';
const USER = 'rollkeeperUser';
const PERSON = 'rollkeeperPerson';
const SIGNED_IN = 'rollkeeperSignedIn';
const BY_SESSION = 'rollkeeperBySession';
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];
/** No guess: sessions are sealed, and cannot be guessed. */
const SESSION_ENDED: AccessDecision = {
  decision: 'refuse',
  status: 401,
  why: 'the session has ended: sign in again, for example with the link that `rollkeeper console` prints',
  guess: false,
};
const TOO_MANY_GUESSES = 'too many wrong tokens';
const PROBES = /^\/(livez|readyz|healthz|metrics)(\/|$)/;

type Refusal = Pick<Extract<AccessDecision, { decision: 'refuse' }>, 'status' | 'why' | 'guess'>;

/** Security headers for browsers, and an {@link AccessGate} in front of every page of the admin port. */
export function guardAdminPages(
  options: AccessOptions,
  browsers: Pick<BrowserSessions, 'admit'>,
): RequestHandler[] {
  const gate = new AccessGate(options, browsers);
  return [
    secureHeaders(),
    (request, response, next) => void gate.pass(request, response).then((passed) => passed && next(), next),
  ];
}

/** Rate limits and access decisions ({@link decideAccess}). Probes and scrapes are never limited. */
class AccessGate {
  private readonly requests: RequestLimiter;
  private readonly guesses: RequestLimiter;
  private readonly ownUsers = new WeakMap<Socket, Promise<boolean | undefined>>();

  constructor(
    private readonly options: AccessOptions,
    private readonly browsers: Pick<BrowserSessions, 'admit'>,
  ) {
    this.requests = new RequestLimiter(options.clock, REQUEST_LIMITS);
    this.guesses = new RequestLimiter(options.clock, GUESS_LIMITS);
  }

  /** Returns whether to continue; if not, it has been answered. */
  async pass(request: Request, response: Response): Promise<boolean> {
    const { delegated, localReads, openMetrics, token } = this.options;
    const address = this.addressOf(request);
    const identity = this.browsers.admit(request);
    response.locals[BY_SESSION] = identity.by === 'session' ? identity : undefined;
    if (identity.by === 'session' && !isWithin(request, identity))
      return refuse(response, 403, `this session is good for reading ${identity.onlyReads} alone`);
    const rules = { token, delegated: delegated !== undefined, openMetrics, localReads };
    const decision =
      identity.by === 'ended-session' ? SESSION_ENDED : await this.decide(request, rules, identity.user);
    // Holders of the token have a limit separate from other clients at the same address, which on one machine all
    // share.
    const client = decision.decision === 'allow' ? `${decision.because} ${address}` : address;
    const waitMs = PROBES.test(request.path) ? 0 : this.requests.take(client);
    if (waitMs > 0) return refuse(response, 429, 'too many requests', waitMs);
    if (decision.decision === 'allow') {
      response.locals[SIGNED_IN] = decision.because === 'token';
      return letIn(response, client);
    }
    if (decision.decision === 'ask') return this.ask(decision.question, address, response);
    return this.turnAway(decision, address, response);
  }

  /**
   * The address that is counted: that of the caller, if a replica passes its request on. Callers of different replicas may share an address,
   * such as that of the loopback, so the replica counts too. Call it before a session is replaced by its token: the proof is of the session.
   */
  private addressOf({ headers, socket: { remoteAddress = '' } }: Request): string {
    const caller = passedCaller(headers, this.options.token);
    return caller === undefined ? remoteAddress : `${caller} at ${remoteAddress}`;
  }

  /** The peer's user is only looked up if it matters, and once per connection. */
  private async decide(
    request: Request,
    rules: AccessRules,
    user: UserInfo | undefined,
  ): Promise<AccessDecision> {
    const facts = { ...factsOf(request), user };
    const decision = decideAccess(facts, rules);
    const isForOwnUser = decision.decision === 'allow' && decision.because === 'local';
    if (!isForOwnUser || rules.localReads !== 'own-user') return decision;
    const { socket } = request;
    const known = this.ownUsers.get(socket) ?? isOwnUser(socket);
    this.ownUsers.set(socket, known);
    return decideAccess({ ...facts, isOwnUser: await known }, rules);
  }

  /** An address that has sent too many wrong tokens is refused here, to spare the cluster. */
  private async ask(question: AccessQuestion, address: string, response: Response): Promise<boolean> {
    const { delegated, logger } = this.options;
    const lockedMs = this.guesses.waitOf(address);
    if (lockedMs > 0) return refuse(response, 429, TOO_MANY_GUESSES, lockedMs);
    const answer = (await delegated?.judge(question)) ?? { verdict: 'unanswered' };
    switch (answer.verdict) {
      case 'allowed':
        if (!/^(get|head)$/.test(question.verb))
          logger.info('admin API used', { user: answer.user, verb: question.verb, path: question.path });
        response.locals[USER] = answer.user;
        response.locals[PERSON] = question.user;
        response.locals[SIGNED_IN] = true;
        return letIn(response, `user ${answer.user}`);
      case 'forbidden':
        return refuse(response, 403, `${answer.user} may not ${question.verb} ${question.path}`);
      case 'unanswered':
        return refuse(response, 503, 'the cluster does not say whose token it is and what they may do');
      case 'unauthenticated':
        return this.turnAway(
          { status: 401, why: 'the cluster does not know the token', guess: true },
          address,
          response,
        );
    }
  }

  private turnAway({ guess, status, why }: Refusal, address: string, response: Response): false {
    const lockedMs = guess ? this.guesses.take(address) : 0;
    if (lockedMs > 0) return refuse(response, 429, TOO_MANY_GUESSES, lockedMs);
    return refuse(response, status, why);
  }
}

/**
 * Identifies a client: a user of the cluster, from any address; otherwise the address, and whether it has the admin
 * token, which several people may share.
 */
export function clientOf(response: Response): string {
  return String(response.locals[CLIENT] ?? '');
}

/** The caller, if it is a user of the cluster. Undefined: a holder of the admin token, or a user of this machine. */
export function userOf(response: Response): string | undefined {
  const user: unknown = response.locals[USER];
  return typeof user === 'string' ? user : undefined;
}

/** The findings of the checks of access about a request. */
interface AccessLocals {
  readonly [PERSON]?: UserInfo;
  readonly [BY_SESSION]?: ShownSession;
}

/** The user whom this replica has authenticated itself, and asks the API for. Undefined: the request has a token of its own. */
export function personOf(response: Response): UserInfo | undefined {
  const { [PERSON]: person }: AccessLocals = response.locals;
  return person;
}

/** The session of a browser that the request came with. Undefined: it came with the token itself, or with nothing. */
export function sessionOf(response: Response): ShownSession | undefined {
  const { [BY_SESSION]: session }: AccessLocals = response.locals;
  return session;
}

/** Exactly the path, as it is routed: no other spelling of it. */
function isWithin({ method, path }: Request, { onlyReads }: ShownSession): boolean {
  return onlyReads === undefined || (method === 'GET' && path === onlyReads);
}

/** Whether a token came with the request, and was good: a reader on this machine without one is anonymous. */
export function isSignedIn(response: Response): boolean {
  return response.locals[SIGNED_IN] === true;
}

function letIn(response: Response, client: string): true {
  response.locals[CLIENT] = client;
  return true;
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
    // Other servers on localhost may speak plain HTTP, and browsers could not bypass a self-signed certificate any
    // more.
    strictTransportSecurity: false,
  });
}

/** The input of {@link decideAccess}. */
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

function refuse(response: Response, status: number, why: string, waitMs = 0): false {
  if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer realm="rollkeeper"');
  if (waitMs > 0) response.setHeader('Retry-After', String(Math.ceil(waitMs / 1000)));
  response.setHeader('Cache-Control', 'no-store');
  // Does not wait for the rest of the body.
  if (!response.req.complete) response.setHeader('Connection', 'close');
  response.status(status).json({ error: why });
  return false;
}
