import type { AdminPorts, Peer } from '../server/index.js';
import { proofOf } from '../server/index.js';
import { networkInterfaces } from 'node:os';

/** The address of a replica's admin pages, and their certificates, if it uses TLS. */
interface ServedReplica {
  readonly identity: string;
  readonly adminUrl: string;
  /** SHA-256 fingerprints. */
  readonly certificates?: readonly string[];
}

/** Called once the replica serves its admin pages, and again when its certificate changes. */
export type OnServing = (replica: ServedReplica) => void;

interface Announcement {
  /** The URL of the admin pages, and the address that the port listens on. */
  readonly url: string;
  readonly host: string;
  readonly ports: Pick<AdminPorts, 'certificate' | 'identity' | 'startedAtMs' | 'token'>;
  /** The registry that the other replicas read. */
  readonly peers: { announceAs(self: Peer): void };
  readonly onServing?: OnServing;
}

/** Announces our address to the other replicas and the supervisor, and again when our certificate changes. */
export function announceReplica({ host, onServing, peers, ports, url }: Announcement): void {
  const { certificate, identity, startedAtMs, token } = ports;
  const tell = (): void => {
    const certificates = certificate && { certificates: certificate.fingerprints };
    const peer: Peer = {
      identity,
      adminUrl: reachableUrl(url, host),
      pid: process.pid,
      startedAtMs,
      ...certificates,
    };
    peers.announceAs(token === undefined ? peer : { ...peer, proof: proofOf(peer, token) });
    onServing?.({ identity, adminUrl: url, ...certificates });
  };
  tell();
  certificate?.onChange(tell);
}

const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]']);

/** The URL at which other machines reach a server on `host`: for all addresses, the first that is not loopback. */
export function reachableUrl(url: string, host: string, interfaces = networkInterfaces()): string {
  if (!ANY_ADDRESS.has(host)) return url;
  const addresses = Object.values(interfaces).flatMap((list) => list ?? []);
  const reachable = addresses.find(({ family, internal }) => !internal && family === 'IPv4');
  if (!reachable) return url;
  const reached = new URL(url);
  reached.hostname = reachable.address;
  return reached.origin;
}
