import { hostname, networkInterfaces } from 'node:os';
import { isLoopbackAddress } from '@rollkeeper/machinery/loopback';

/** The names of a machine. */
interface OwnNames {
  readonly hostname: string;
  /** The addresses of its interfaces, IPv4 and IPv6. */
  readonly addresses: readonly string[];
}

/** Whether a URL leads to this machine without asking a name service, which others may control. */
export function isOfThisMachine(url: string, own: OwnNames = ownNames()): boolean {
  const host = URL.parse(url)
    ?.hostname.replace(/^\[|\]$/g, '')
    .toLowerCase();
  if (host === undefined || host === '') return false;
  return (
    host === 'localhost' ||
    host === own.hostname.toLowerCase() ||
    isLoopbackAddress(host) ||
    own.addresses.includes(host)
  );
}

function ownNames(): OwnNames {
  const all = Object.values(networkInterfaces()).flatMap((interfaces) => interfaces ?? []);
  return { hostname: hostname(), addresses: all.map(({ address }) => address.toLowerCase()) };
}
