import type { BeforeApplicationShutdown } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { Peer } from './admin-ports.js';
import { AdminPorts } from './admin-ports.js';
import { PeerClient } from './peer-client.js';
import { StoreWatch } from './store-watch.js';

/** The replicas of the installation, as this one finds and asks them. */
@Injectable()
export class OtherReplicas implements BeforeApplicationShutdown {
  readonly client: PeerClient;
  /** The last known ones: the registry is in the store, which may be down. */
  private last: readonly Peer[] = [];

  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(StoreWatch) private readonly store: StoreWatch,
  ) {
    this.client = new PeerClient(ports.token);
  }

  beforeApplicationShutdown(): void {
    this.client.close();
  }

  /** All replicas, this one among them. */
  async all(): Promise<readonly Peer[]> {
    const { identity, peers, startedAtMs } = this.ports;
    const self: Peer = { identity, adminUrl: '', pid: process.pid, startedAtMs };
    const known = await this.store.ask(() => peers.peers()).catch(() => this.last);
    this.last = known;
    this.client.keepOnly(known);
    return known.some((peer) => peer.identity === identity) ? known : [self, ...known];
  }

  /** The others that a condition accepts. */
  async that(isWanted: (peer: Peer) => boolean): Promise<readonly Peer[]> {
    const { identity } = this.ports;
    return (await this.all()).filter((peer) => peer.identity !== identity && isWanted(peer));
  }
}
