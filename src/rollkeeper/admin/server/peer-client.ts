import { createHmac } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { request } from 'undici';
import { errorCode, errorMessage, hasCode } from '@rollkeeper/machinery/errors';
import { parseJson } from '@rollkeeper/machinery/kubernetes';
import { trustedAgent } from '@rollkeeper/tls';
import type { Peer } from './admin-ports.js';
import { isSameSecret } from './decide-access.js';

/** A replica that takes longer than this to answer is shown as unreachable. */
const PEER_TIMEOUT_MS = 800;

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
  | { readonly answer: T; readonly problem?: undefined; readonly isRefused?: undefined }
  | {
      readonly answer?: undefined;
      readonly problem: string;
      /** Whether nothing listens at its address. @default false */
      readonly isRefused?: boolean;
    };

/** Queries other replicas, with the shared token, if there is one. */
export class PeerClient {
  /** By the certificates that they trust. */
  private readonly agents = new Map<string, Dispatcher>();

  constructor(private readonly token: string | undefined) {}

  async ask<T>(peer: Peer, path: string): Promise<PeerAnswer<T>> {
    const { token } = this;
    if (token !== undefined && !isSameSecret(peer.proof ?? '', proofOf(peer, token)))
      return { problem: 'it does not have the admin token of this replica' };
    try {
      const { body, statusCode } = await request(peer.adminUrl + path, {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        headersTimeout: PEER_TIMEOUT_MS,
        bodyTimeout: PEER_TIMEOUT_MS,
        signal: AbortSignal.timeout(PEER_TIMEOUT_MS),
        dispatcher: this.agentFor(peer),
      });
      const text = await body.text();
      if (statusCode !== 200) return { problem: `it answers ${statusCode}` };
      return { answer: parseJson(text) as T };
    } catch (error) {
      const isOther = hasCode(error, 'WRONG_CERTIFICATE');
      if (isOther) return { problem: 'another certificate than its own is shown there' };
      return { problem: errorMessage(error), isRefused: errorCode(error) === 'ECONNREFUSED' };
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

  private agentFor(peer: Peer): Dispatcher {
    const key = certificatesOf(peer);
    const known = this.agents.get(key);
    if (known) return known;
    const agent = trustedAgent({ by: 'fingerprint', sha256: peer.certificates ?? [] });
    this.agents.set(key, agent);
    return agent;
  }
}

function certificatesOf({ certificates = [] }: Peer): string {
  return certificates.join();
}
