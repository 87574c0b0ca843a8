import { readNamedFileSync } from '@rollkeeper/machinery/files';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { Agent, buildConnector } from 'undici';
import type { Dispatcher } from 'undici';
import { RollkeeperError } from '@rollkeeper/machinery/errors';

/** How the server's identity is verified. */
export type ServerTrust =
  /** The certificate has one of these SHA-256 fingerprints, regardless of issuer and name. */
  | { readonly by: 'fingerprint'; readonly sha256: readonly string[] }
  /** The certificate was issued by one of these authorities (PEM) for the name in the URL. */
  | { readonly by: 'authority'; readonly caPem: string }
  /** As above, by the authorities that Node.js trusts. */
  | { readonly by: 'well-known-authorities' }
  | { readonly by: 'nothing' };

/** The server's certificate is not the expected one. Nothing was sent to it. */
export class WrongCertificateError extends RollkeeperError {
  readonly code = 'WRONG_CERTIFICATE';
}

const CONNECT_TIMEOUT_MS = 5000;

/** Connections to servers that an authority in this file vouches for; without one, a well-known authority. */
export function agentTrusting(caFile: string | undefined): Dispatcher {
  return trustedAgent(
    caFile === undefined
      ? { by: 'well-known-authorities' }
      : { by: 'authority', caPem: readNamedFileSync(caFile).toString('utf8') },
  );
}

/**
 * Connections to servers trusted this way. Plain HTTP cannot be verified; using such a URL is the caller's decision.
 */
export function trustedAgent(trust: ServerTrust): Dispatcher {
  const timeout = CONNECT_TIMEOUT_MS;
  switch (trust.by) {
    case 'fingerprint':
      return new Agent({ connect: pinned(new Set(trust.sha256.map(canonical)), timeout) });
    case 'authority':
      return new Agent({ connect: { timeout, ca: trust.caPem } });
    case 'well-known-authorities':
      return new Agent({ connect: { timeout } });
    case 'nothing':
      return new Agent({ connect: { timeout, rejectUnauthorized: false } });
  }
}

/** Whether it is a SHA-256 in hexadecimal digits, with or without colons. */
export function isFingerprint(text: string): boolean {
  return /^[0-9A-F]{64}$/.test(canonical(text));
}

function canonical(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toUpperCase();
}

/**
 * The handshake proves that the server has the private key of its certificate. Whether it is the right certificate is
 * checked before the first byte of a request is sent.
 */
function pinned(wanted: ReadonlySet<string>, timeout: number): buildConnector.connector {
  // No resumed sessions: each connection must present its certificate.
  const connect = buildConnector({ timeout, rejectUnauthorized: false, maxCachedSessions: 0 });
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error) return callback(error, null);
      if (options.protocol === 'https:') {
        const { fingerprint256: shown = '' }: Partial<PeerCertificate> = (
          socket as TLSSocket
        ).getPeerCertificate();
        if (!wanted.has(canonical(shown))) {
          socket.destroy();
          const message = `${options.hostname} shows another certificate than the one it is known by (${shown})`;
          return callback(new WrongCertificateError(message), null);
        }
      }
      callback(null, socket);
    });
}
