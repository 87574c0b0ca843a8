import { createHmac } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { errors, request } from 'undici';
import {
  RollkeeperError,
  UnsupportedError,
  errorCode,
  errorMessage,
  hasCode,
} from '@rollkeeper/machinery/errors';
import { parseJson } from '@rollkeeper/machinery/kubernetes';
import { trustedAgent } from '@rollkeeper/tls';
import type { Peer } from './admin-ports.js';
import { isSameSecret } from './decide-access.js';

/** A replica that takes longer than this to answer is shown as unreachable. */
const PEER_TIMEOUT_MS = 800;
/** An answer, or one event of a stream, may have so many characters. */
const LONGEST_ANSWER = 32 << 20;

/**
 * Proves to holders of the admin token that a peer belongs to them, its address, and its certificate. Peers find each
 * other in Redis; without this, anyone who can write there could redirect the token.
 */
export function proofOf(peer: Omit<Peer, 'proof'>, token: string): string {
  const { adminUrl, certificates = [], identity, pid, startedAtMs } = peer;
  const facts = JSON.stringify(['rollkeeper peer', 1, identity, adminUrl, pid, startedAtMs, certificates]);
  return createHmac('sha256', token).update(facts).digest('base64url');
}

export type PeerAnswer<T> =
  | {
      readonly answer: T;
      readonly problem?: undefined;
      readonly isRefused?: undefined;
      readonly isLate?: undefined;
    }
  | {
      readonly answer?: undefined;
      readonly problem: string;
      /** Whether nothing listens at its address. @default false */
      readonly isRefused?: boolean;
      /** Whether the time for the answer has run out. @default false */
      readonly isLate?: boolean;
    };

/** The headers of a request that is passed on for a caller: the address of that one, and the proof that a replica names it. */
const CALLER_HEADER = 'x-rollkeeper-caller';
const CALLER_PROOF_HEADER = 'x-rollkeeper-caller-proof';

/** Proves that a holder of the admin token names the caller, for this credential alone. */
function proofOfCaller(caller: string, credential: string, token: string): string {
  const facts = JSON.stringify(['rollkeeper caller', 1, caller, credential]);
  return createHmac('sha256', token).update(facts).digest('base64url');
}

/**
 * The address of the caller for whom another replica passes a request on. Undefined: none has proved that it does, so that no client can
 * choose the address under which it is counted.
 * @param token that the replicas share
 */
export function passedCaller(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  token: string | undefined,
): string | undefined {
  const { [CALLER_HEADER]: caller, [CALLER_PROOF_HEADER]: proof, authorization = '' } = headers;
  if (token === undefined || typeof caller !== 'string' || typeof proof !== 'string') return undefined;
  const credential = String(authorization).replace(/^Bearer +/i, '');
  return isSameSecret(proof, proofOfCaller(caller, credential, token)) ? caller : undefined;
}

/** A request to another replica. */
export interface PeerRequest {
  readonly path: string;
  /** @default 'GET' */
  readonly method?: string;
  /** JSON. @default none */
  readonly body?: string;
  /** The credential of the user in whose name it is sent. @default the token that the replicas share, if they do */
  readonly credential?: string;
  /** The address of that user. @default none is named */
  readonly caller?: string;
  /** Milliseconds. For a stream, the longest silence. @default 800 */
  readonly withinMs?: number;
}

/** Queries other replicas, with the shared token, if there is one, or with the credential of a user. */
export class PeerClient {
  /** By the certificates that they trust. */
  private readonly agents = new Map<string, Dispatcher>();

  constructor(private readonly token: string | undefined) {}

  async ask<T>(peer: Peer, path: string): Promise<PeerAnswer<T>> {
    return this.read<T>(peer, { path });
  }

  /** The answer to a question; any other status than 200 is a problem. */
  async read<T>(peer: Peer, asked: PeerRequest): Promise<PeerAnswer<T>> {
    try {
      const { status, text } = await this.send(peer, asked);
      if (status !== 200) return { problem: `it answers ${status}` };
      return { answer: parseJson(text) as T };
    } catch (error) {
      return {
        problem: peerProblem(error),
        isRefused: errorCode(error) === 'ECONNREFUSED',
        isLate: isLate(error),
      };
    }
  }

  /** An answer of any status. @throws why there is none, see {@link peerProblem} */
  async send(peer: Peer, asked: PeerRequest): Promise<{ readonly status: number; readonly text: string }> {
    const signal = AbortSignal.timeout(asked.withinMs ?? PEER_TIMEOUT_MS);
    const { body, statusCode: status } = await this.open(peer, asked, signal);
    let text = '';
    for await (const part of textOf(body)) {
      text += part;
      assertShort(text);
    }
    return { status, text };
  }

  /**
   * The events of a stream of server-sent events, parsed, until it ends.
   * @throws why it does not answer or breaks off, see {@link peerProblem}; the signal's reason
   */
  async *events(peer: Peer, asked: PeerRequest, signal: AbortSignal): AsyncGenerator<unknown> {
    const { body, statusCode } = await this.open(peer, asked, signal);
    if (statusCode !== 200) {
      // Without a listener, the error of the end that is asked for here would end the process.
      body.on('error', () => undefined).destroy();
      throw statusCode === UNAUTHORIZED
        ? new CredentialRefusedError('it does not accept the token or session any more: sign in again')
        : new UnsupportedError(`it answers ${statusCode}`);
    }
    let text = '';
    for await (const part of textOf(body)) {
      const messages = (text + part).split('\n\n');
      text = messages.pop() ?? '';
      assertShort(text);
      for (const message of messages) {
        const data = message.split('\n').find((line) => line.startsWith(DATA));
        if (data !== undefined) yield parseJson(data.slice(DATA.length));
      }
    }
  }

  /** Closes connections to replicas that no longer exist, or that have a new certificate. */
  keepOnly(peers: readonly Peer[]): void {
    const wanted = new Set(peers.map(certificatesOf));
    for (const [certificates, agent] of this.agents) {
      if (wanted.has(certificates)) continue;
      this.agents.delete(certificates);
      agent.close().catch(() => undefined);
    }
  }

  close(): void {
    this.keepOnly([]);
  }

  private async open(
    peer: Peer,
    { body, caller, credential, method = 'GET', path, withinMs = PEER_TIMEOUT_MS }: PeerRequest,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    this.assertIsOurs(peer, credential);
    const secret = credential ?? this.token;
    return request(peer.adminUrl + path, {
      method,
      headers: {
        ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...this.callerHeaders(caller, credential),
      },
      ...(body !== undefined && { body }),
      headersTimeout: withinMs,
      bodyTimeout: withinMs,
      signal,
      dispatcher: this.agentFor(peer),
    });
  }

  private callerHeaders(caller?: string, credential?: string): Record<string, string> {
    const { token } = this;
    if (caller === undefined || credential === undefined || token === undefined) return {};
    return {
      [CALLER_HEADER]: caller,
      [CALLER_PROOF_HEADER]: proofOfCaller(caller, credential, token),
    };
  }

  /** No credential leaves for an address that a writer to Redis may have made up. */
  private assertIsOurs({ proof = '', ...peer }: Peer, credential: string | undefined): void {
    const { token } = this;
    if (token === undefined && credential !== undefined)
      throw new UnsupportedError(
        'without an admin token the replicas do not ask each other in the name of a user',
      );
    if (token !== undefined && !isSameSecret(proof, proofOf(peer, token)))
      throw new UnsupportedError('it does not have the admin token of this replica');
  }

  private agentFor(peer: Peer): Dispatcher {
    const key = certificatesOf(peer);
    const agent =
      this.agents.get(key) ?? trustedAgent({ by: 'fingerprint', sha256: peer.certificates ?? [] });
    this.agents.set(key, agent);
    return agent;
  }
}

const DATA = 'data: ';
const UNAUTHORIZED = 401;

/** A replica knows the credential of the user no longer: asking again with it counts as guessing. */
class CredentialRefusedError extends RollkeeperError {
  readonly code = 'CREDENTIAL_REFUSED';
}

/** Why a replica does not answer, for people. */
export function peerProblem(error: unknown): string {
  if (isSilence(error)) return 'nothing has come from it for too long';
  return hasCode(error, 'WRONG_CERTIFICATE')
    ? 'another certificate than its own is shown there'
    : errorMessage(error);
}

function isSilence(error: unknown): boolean {
  return error instanceof errors.BodyTimeoutError || error instanceof errors.HeadersTimeoutError;
}

/** The signal ends the whole question; undici ends each part of it. */
function isLate(error: unknown): boolean {
  return isSilence(error) || (error instanceof Error && error.name === 'TimeoutError');
}

function textOf(body: Dispatcher.ResponseData['body']): AsyncIterable<string> {
  body.setEncoding('utf8');
  return body as AsyncIterable<string>;
}

function assertShort(text: string): void {
  if (text.length > LONGEST_ANSWER)
    throw new UnsupportedError(`it answers with more than ${LONGEST_ANSWER >> 20} MiB`);
}

function certificatesOf({ certificates = [] }: Peer): string {
  return certificates.join();
}
