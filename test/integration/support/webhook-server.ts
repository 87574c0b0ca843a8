import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { SystemClock } from '../../../src/machinery/clock/index.js';
import { createAuthority, createServerCertificate } from '../../../src/tls/certificates.js';
import type { Body } from '../api-server-harness.js';

export interface WebhookAnswer {
  /** @default 200 */
  readonly code?: number;
  readonly location?: string;
  readonly text: string;
}

export interface WebhookServer {
  /** `host:port` */
  readonly address: string;
  /** As a webhook's configuration has it. */
  readonly caBundle: string;
  stop(): Promise<void>;
}

/**
 * A webhook behind HTTPS, at an address and under the names of Services.
 * @param answer made from the review that was sent, and the path that it was sent to; `undefined` never answers
 */
export async function startWebhookServer(
  names: readonly string[],
  answer: (review: Body, path: string) => WebhookAnswer | undefined,
): Promise<WebhookServer> {
  const now = new SystemClock().now();
  const authority = await createAuthority(now);
  const { cert, key } = await createServerCertificate(authority, ['127.0.0.1', ...names], now);
  const server = createServer({ cert, key }, (message, response) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const said = answer(JSON.parse(Buffer.concat(chunks).toString()), message.url ?? '');
      if (!said) return;
      response.writeHead(said.code ?? 200, said.location ? { location: said.location } : {});
      response.end(said.text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    caBundle: Buffer.from(authority.pem.cert).toString('base64'),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
