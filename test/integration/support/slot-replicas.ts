import type { FakeClock } from '../../../src/machinery/clock/index.js';
import { createMetrics } from '../../../src/opentelemetry/index.js';
import { Deployment, ReplicaSet } from '../../../src/machinery/kubernetes/index.js';
import type { AdminPorts, Peer } from '../../../src/rollkeeper/admin/server/admin-ports.js';
import { ADMIN_TOKEN, anAdminPorts } from '../../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { AdminModule } from '../../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminServer } from '../../../src/rollkeeper/admin/server/nest-admin-server.js';
import { startAdminServer } from '../../../src/rollkeeper/admin/server/nest-admin-server.js';
import { proofOf } from '../../../src/rollkeeper/admin/server/peer-client.js';
import { HealthRegistry } from '../../../src/runtime/health/index.js';
import type { SlotListener } from '../../../src/runtime/slots/index.js';
import { MemoryWorkQueue } from '../../../src/runtime/work-queue/index.js';
import { aDeployment } from '../../../src/testing/deployment-builder.js';
import { FakeCluster } from '../../../src/testing/fake-cluster.js';
import { FakeInformers } from '../../../src/testing/fake-informers.js';

/** The slot of each namespace is its own, and each has an owner: what replicas read from the table of slots. */
export class FakeSlots {
  /** By namespace, the identity of its owner. */
  readonly owners = new Map<string, string>();
  private readonly listeners = new Map<string, Set<SlotListener>>();

  of(identity: string): NonNullable<ReturnType<NonNullable<AdminPorts['slots']>>> {
    const names = (): string[] => [...this.owners.keys()];
    return {
      slotOf: (namespace = '') => names().indexOf(namespace),
      owns: (namespace = '') => this.owners.get(namespace) === identity,
      ownerOf: (namespace) => this.owners.get(namespace),
      owned: () =>
        new Map(
          [...Map.groupBy(names(), (each) => this.owners.get(each) ?? '')].map(([owner, each]) => [
            owner,
            each.length,
          ]),
        ),
      unowned: () => 0,
      spreads: (controller) => controller === 'deployment',
      namespaceOf: (_controller, key) => key.split('/')[0]?.split('|').at(-1),
      listen: (listener) => {
        const listeners = this.listeners.get(identity) ?? new Set();
        this.listeners.set(identity, listeners.add(listener));
        return () => listeners.delete(listener);
      },
    };
  }

  /** Gives the slot of a namespace to another owner: it ends at one replica and begins at the other. */
  move(namespace: string, to: string): void {
    const from = this.owners.get(namespace) ?? '';
    this.owners.set(namespace, to);
    const slots = new Set([[...this.owners.keys()].indexOf(namespace)]);
    for (const listener of this.listeners.get(from) ?? []) listener.ended(slots);
    for (const listener of this.listeners.get(to) ?? []) listener.begun(slots);
  }
}

/** Replicas that share namespaces by slots, on this machine. Each keeps the objects of the namespaces that it owns. */
export class SlotReplicasHarness {
  readonly slots = new FakeSlots();
  readonly servers = new Map<string, AdminServer>();
  readonly clusters = new Map<string, FakeCluster>();
  readonly clocks = new Map<string, FakeClock>();
  /** The announced replicas. */
  peers: Peer[] = [];

  /** @param names the Deployments that it owns, as `namespace/name` */
  async start(
    identity: string,
    names: readonly string[],
    more: Partial<AdminPorts> = {},
  ): Promise<AdminServer> {
    const cluster = new FakeCluster();
    for (const key of names) {
      const [namespace = '', name = ''] = key.split('/');
      this.slots.owners.set(namespace, identity);
      seedDeployment(cluster, namespace, name);
    }
    const informers = new FakeInformers(cluster);
    informers.informerFor(ReplicaSet);
    const deployments = informers.informerFor<Deployment>(Deployment);
    Object.assign(deployments, {
      showsNamespace: (namespace: string) => this.slots.owners.get(namespace) === identity,
    });
    const base = anAdminPorts({ informers, client: cluster });
    const queue = new MemoryWorkQueue({ name: 'deployment', clock: base.clock });
    const ports: AdminPorts = {
      ...base,
      identity,
      queues: () => new Map([['deployment', queue]]),
      peers: { peers: async () => this.peers },
      slots: () => this.slots.of(identity),
      ...more,
    };
    for (const key of names) await queue.park(key, new Error(`refused: ${key}`));
    const options = { health: new HealthRegistry(), metrics: createMetrics(), status: ports.status, ports };
    const server = await startAdminServer(AdminModule.forRoot(options), { host: '127.0.0.1', port: 0 });
    this.servers.set(identity, server);
    this.clusters.set(identity, cluster);
    this.clocks.set(identity, base.clock);
    this.announce(identity, server.url);
    return server;
  }

  announce(identity: string, adminUrl: string, token = ADMIN_TOKEN): void {
    const peer = { identity, adminUrl, pid: 1, startedAtMs: 0 };
    this.peers = [
      ...this.peers.filter((each) => each.identity !== identity),
      { ...peer, proof: proofOf(peer, token) },
    ];
  }

  async stop(): Promise<void> {
    await Promise.all([...this.servers.values()].map((server) => server.close()));
  }
}

export function seedDeployment(cluster: FakeCluster, namespace: string, name: string): void {
  cluster.seed(Deployment, aDeploymentOf(namespace, name));
}

export function aDeploymentOf(namespace: string, name: string): Deployment {
  const { metadata, ...rest } = aDeployment({ replicas: 0 });
  return { ...rest, metadata: { ...metadata, namespace, name } };
}
