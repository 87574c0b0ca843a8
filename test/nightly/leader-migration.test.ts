import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment, Lease, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import { LeaderElector, LeaseResourceLock } from '../../src/runtime/leader-election/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { Rollouts } from '../e2e/support/rollouts.js';
import { Up } from '../e2e/support/up.js';

const MIGRATION = `apiVersion: controllermanager.config.k8s.io/v1
kind: LeaderMigrationConfiguration
leaderName: workloads-migration
controllerLeaders:
  - { name: deployment-controller, component: rollkeeper }
  - { name: replicaset-controller, component: rollkeeper }
  - { name: garbage-collector-controller, component: kube-controller-manager }
  - { name: namespace-controller, component: kube-controller-manager }
`;

describe('controllers that go over from another controller manager, and back', () => {
  let folder: string;
  let up: Up;
  let client: HttpApiClient;
  let rollouts: Rollouts;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rollkeeper-migration-'));
    const file = join(folder, 'migration.yaml');
    writeFileSync(file, MIGRATION);
    const assigned = ['--controllers', 'deployment,replicaset,garbage-collector,namespace'];
    up = await Up.start({
      args: ['--replicas', '2', '--', ...assigned, '--leader-migration-config', file],
    });
    client = await up.client();
    rollouts = new Rollouts(client);
  });

  afterAll(async () => {
    await client.close();
    await up.stopAndRemove();
    rmSync(folder, { recursive: true });
  });

  const lease = () => client.get<Lease>(Lease, { namespace: 'kube-system', name: 'workloads-migration' });
  const statuses = async () => {
    const { replicas } = await up.status();
    return Promise.all(
      replicas.map(
        async ({ adminUrl }) =>
          (await (await fetch(`${adminUrl}/admin/status`)).json()) as {
            leader: boolean;
            controllers: { name: string; consuming: boolean }[];
          },
      ),
    );
  };

  /** The other component, which knows nothing of our Redis. */
  function other() {
    const lock = new LeaseResourceLock({
      ...{ client, identity: 'kube-controller-manager', namespace: 'kube-system' },
      name: 'workloads-migration',
    });
    const stop = new AbortController();
    const elector = new LeaderElector({
      lock,
      callbacks: {
        onStartedLeading: (signal) =>
          new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
        onStoppedLeading: () => undefined,
        onNewLeader: () => undefined,
      },
    });
    const running = elector.run(stop.signal);
    return {
      elector,
      async stop() {
        stop.abort();
        await running;
        lock.close();
      },
    };
  }

  it('run under the shared Lease, and only those that are assigned to us', async () => {
    await client.create(Deployment, aDeployment({ name: 'web', replicas: 2 }));
    await rollouts.rolledOut('web');
    expect((await lease()).spec?.holderIdentity).toMatch(/^controller-/);
    for (const { controllers, leader } of await statuses()) {
      // With what helps the Deployment controller.
      expect(controllers.map(({ name }) => name)).toEqual([
        ...['deployment', 'admission-drift', 'session-drain', 'experiments'],
        ...['rollout-history', 'daemonset-rollout', 'statefulset-rollout', 'rollout-turns'],
        'replicaset',
      ]);
      expect(controllers.every(({ consuming }) => consuming === leader)).toBe(true);
    }
  });

  it('do nothing while the other component holds it, and take up what was missed when it lets go', async () => {
    const theirs = other();
    // Ours are paused for longer than their lease, and go on when it is theirs.
    const pids = (await up.status()).replicas.map(({ pid }) => pid);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    try {
      await waitFor(() => theirs.elector.isLeader, {
        what: 'the other component to lead',
      });
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    }
    const missed = await rollouts.setImage('web', 'web:2');
    await client.create(Deployment, aDeployment({ name: 'second', replicas: 1 }));
    // Replicas that are there, know of the change, and are not to act on it. By its clock one leads no longer as soon as it
    // goes on; it puts its work down a moment later.
    await waitFor(
      async () => {
        const all = await statuses().catch(() => []);
        const isIdle = ({ controllers, leader }: (typeof all)[number]): boolean =>
          !leader && controllers.every(({ consuming }) => !consuming);
        return all.length === 2 && all.every(isIdle);
      },
      { what: 'two replicas that neither lead nor take keys' },
    );
    expect(theirs.elector.isLeader).toBe(true);
    expect((await rollouts.read('web')).status?.observedGeneration).toBeLessThan(
      missed.metadata.generation ?? 0,
    );
    const { items } = await client.list(ReplicaSet, { namespace: 'default' });
    expect(items).toHaveLength(1);

    await theirs.stop();
    await rollouts.rolledOut('web');
    await rollouts.rolledOut('second');
    expect((await lease()).spec?.holderIdentity).toMatch(/^controller-/);
  });
});
