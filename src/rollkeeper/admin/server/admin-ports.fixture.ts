import type { AdminPorts } from './admin-ports.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import { DecisionLog, RunningSyncs } from '../../insight/explain/index.js';
import { Deployment, Namespace, Pod, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { MemoryWorkQueue } from '../../../runtime/work-queue/index.js';
import type { FakeInformers } from '../../../testing/fake-informers.js';

export const ADMIN_TOKEN = 'a-token-that-nobody-would-guess';

/** A single replica with a Deployment queue in memory. */
export function anAdminPorts(
  overrides: Partial<AdminPorts> & { informers?: FakeInformers } = {},
): AdminPorts & { readonly clock: FakeClock } {
  const { informers, ...others } = overrides;
  const clock = new FakeClock(Date.UTC(2026, 0, 1, 12));
  let level = 'info';
  const queues = new Map([['deployment', new MemoryWorkQueue({ name: 'deployment', clock })]]);
  return {
    identity: 'controller-0',
    startedAtMs: 0,
    logger: silentLogger,
    token: ADMIN_TOKEN,
    status: STATUS,
    store: { name: 'redis', ping: async () => undefined },
    hasObject: () => undefined,
    config: () => ({}),
    logLevel: { get: () => level, set: (wanted) => void (level = wanted) },
    queues: () => queues,
    caches: () => (informers ? [deploymentCaches(informers)] : []),
    decisions: new DecisionLog(),
    running: new RunningSyncs(clock),
    traces: { of: () => [] },
    lease: async () => ({
      holder: 'controller-0',
      epoch: 3,
      durationMs: 2500,
      renewedAtMs: clock.now(),
      remainingMs: 2500,
    }),
    peers: { peers: async () => [] },
    ...others,
    clock,
  };
}

const STATUS: AdminPorts['status'] = {
  status: async () => ({
    identity: 'controller-0',
    version: '0',
    leader: true,
    controllers: [
      { name: 'deployment', workers: 1, consuming: true, worksOn: 'all', waitsFor: [], unreadable: [] },
    ],
    informers: [],
  }),
  leadership: () => ({
    leader: true,
    leaderIdentity: 'controller-0_x',
    epoch: 3,
    lock: 'memory lease',
    transitions: [],
  }),
};

function deploymentCaches(informers: FakeInformers): ReturnType<AdminPorts['caches']>[number] {
  return {
    apiVersion: 'apps/v1',
    controller: 'deployment',
    deployments: informers.informerFor(Deployment),
    replicaSets: informers.informerFor(ReplicaSet),
    pods: informers.informerFor(Pod),
    namespaces: informers.informerFor(Namespace),
  };
}
