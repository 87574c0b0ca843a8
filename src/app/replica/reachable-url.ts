import { networkInterfaces } from 'node:os';

const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]']);

/** The URL by which other machines reach what listens on `host`: on all addresses means the first that is not loopback. */
export function reachableUrl(url: string, host: string, interfaces = networkInterfaces()): string {
  if (!ANY_ADDRESS.has(host)) return url;
  const addresses = Object.values(interfaces).flatMap((list) => list ?? []);
  const reachable = addresses.find(({ family, internal }) => !internal && family === 'IPv4');
  if (!reachable) return url;
  const reached = new URL(url);
  reached.hostname = reachable.address;
  return reached.origin;
}
