import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import type { RandomSource } from './clock/index.js';
import { SystemRandom } from './clock/index.js';
import { IllegalStateError } from './errors/index.js';

/**
 * The address and port that a server listens on.
 * @throws IllegalStateError if it does not listen, or on a path and not on a port
 */
export function listeningAddress(server: Pick<Server, 'address'>): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new IllegalStateError('the server does not listen on a port');
  return address;
}

/** Below the ports of outgoing connections, which begin at 32768 on Linux and at 49152 elsewhere. */
const FIRST_PORT = 20_000;
const PORTS = 12_000;
const ATTEMPTS = 100;
/** A server of this process may not listen yet on the port that it was given. */
const given = new Set<number>();

/**
 * A currently unused TCP port of the loopback interface, for a server that starts a little later. The system's own choice
 * would be one that the next outgoing connection may take before that. A process is never given the same port twice.
 * @throws IllegalStateError if none was found
 */
export async function freePort(
  random: RandomSource = new SystemRandom(),
  isFree: (port: number, host: string) => Promise<boolean> = isPortFree,
): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST_PORT + Math.floor(random.next() * PORTS);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port, '127.0.0.1')) return port;
    given.delete(port);
  }
  throw new IllegalStateError(`no free port between ${FIRST_PORT} and ${FIRST_PORT + PORTS - 1}`);
}

/** Whether this process could listen on `port` of `host` now. */
export async function isPortFree(port: number, host: string): Promise<boolean> {
  const probe = createServer();
  const isFree = await new Promise<boolean>((done) => {
    probe.once('error', () => done(false));
    probe.listen(port, host, () => done(true));
  });
  if (isFree) await new Promise((done) => probe.close(done));
  return isFree;
}
