import type { AddressInfo, Server } from 'node:net';
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
