import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/**
 * A bare HTTPS server, in a process of its own: reads what it is sent, and answers a fixed text as long as a stored
 * pod. What no API server on this machine and this Node can be faster than.
 */
const [certFile = '', keyFile = ''] = process.argv.slice(2);
const answer = Buffer.from(JSON.stringify({ kind: 'Pod', filler: 'x'.repeat(2048) }));

const server = createServer(
  { cert: readFileSync(certFile), key: readFileSync(keyFile), ALPNProtocols: ['http/1.1'] },
  (request, response) => {
    const reply = (): void => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': answer.length });
      response.end(answer);
    };
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', reply);
  },
);
server.listen(0, '127.0.0.1', () => {
  process.send?.({ type: 'ready', port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit());
