import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:tls';
import type { ClusterConnection } from '@rollkeeper/client/api-client';
import { authorityEndMs } from '../authority-end.js';
import type { CertificateFacts } from './certificates.js';

/** The certificates of a connection to an API server. */
export type CertifiedConnection = Pick<ClusterConnection, 'proxyUrl' | 'serverUrl' | 'tls'>;

/**
 * Reads when the certificates of a connection to an API server end: the server's, from a handshake, and the client's own.
 * Sends nothing after the handshake. Does not look at a server behind a proxy.
 */
export async function readCertificates(
  { proxyUrl, serverUrl, tls }: CertifiedConnection,
  signal: AbortSignal,
): Promise<CertificateFacts> {
  const url = new URL(serverUrl);
  const server =
    url.protocol === 'https:' && proxyUrl === undefined ? await shownBy(url, tls, signal) : undefined;
  const client = endOf(tls.cert);
  const authority = authorityEndMs(tls.ca === undefined ? undefined : Buffer.from(tls.ca).toString('base64'));
  return {
    ...(authority !== undefined && !Number.isNaN(authority) && { authorityEndsAtMs: authority }),
    ...(server !== undefined && { serverEndsAtMs: server }),
    ...(client !== undefined && { clientEndsAtMs: client }),
  };
}

async function shownBy(
  { hostname, port }: URL,
  { serverName }: CertifiedConnection['tls'],
  signal: AbortSignal,
): Promise<number | undefined> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  // No check of trust: an expired certificate would fail it, and its end is what we want to know.
  const socket = connect({
    ...{ host, port: Number(port || 443), rejectUnauthorized: false },
    ...(serverName !== undefined && { servername: serverName }),
  });
  try {
    await once(socket, 'secureConnect', { signal });
    return socket.getPeerX509Certificate()?.validToDate.getTime();
  } finally {
    socket.destroy();
  }
}

/** The end of the first certificate: those that follow belong to authorities. */
function endOf(pem: string | Buffer | undefined): number | undefined {
  if (pem === undefined) return undefined;
  try {
    return new X509Certificate(pem).validToDate.getTime();
  } catch {
    return undefined;
  }
}
