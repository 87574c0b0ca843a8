import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import type { KubernetesObject, ResourceType } from '../../src/machinery/kubernetes/index.js';
import { PriorityClass } from '../../src/machinery/kubernetes/built-in-kinds.js';
import {
  ConfigMap,
  Deployment,
  Namespace,
  Pod,
  ReplicaSet,
  shardHash,
  shardIndexOf,
} from '../../src/machinery/kubernetes/index.js';
import type { ReplicaLine } from '../../src/rollkeeper/replica/supervisor/status.js';
import { askStatus } from '../../src/rollkeeper/replica/supervisor/replica-probe.js';
import { RolloutHistory, findViolations } from '../../src/testing/rollout-history.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { Rollouts } from '../e2e/support/rollouts.js';
import { Up } from '../e2e/support/up.js';

const REPLICAS = 4;
const SLOTS = 8;
const PODS = 4;

/** One namespace in each slot. */
const NAMESPACES = Array.from({ length: SLOTS }, (_, slot) => {
  for (let at = 0; ; at++) {
    const name = `n${at}-team`;
    if (shardIndexOf(shardHash(name), SLOTS) === slot) return name;
  }
});

interface HeldThere {
  readonly owner: number;
  readonly standby: number;
  /** On the leader. */
  readonly unowned?: number;
}

describe('replicas that share namespaces by slots', () => {
  let up: Up;
  let client: HttpApiClient;
  let history: RolloutHistory;

  beforeAll(async () => {
    const controllers = 'deployment,replicaset,serviceaccount,garbage-collector,namespace';
    up = await Up.start({
      args: [
        ...['--replicas', String(REPLICAS), '--'],
        ...['--slots', String(SLOTS), '--controllers', controllers],
        // Both need one replica that sees everything.
        ...['--max-rollouts', 'off', '--notification-hosts', ''],
      ],
    });
    client = await up.client();
    for (const name of NAMESPACES)
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    history = new RolloutHistory(client);
    await history.start();
  });

  afterAll(async () => {
    await history?.stop();
    await client?.close();
    await up?.stopAndRemove();
  });

  async function heldBy({ adminUrl }: ReplicaLine): Promise<HeldThere | undefined> {
    const text = await fetch(`${adminUrl}/metrics`).then(
      (answer) => answer.text(),
      () => '',
    );
    const valueOf = (line: RegExp): number | undefined => {
      const [, value] = line.exec(text) ?? [];
      return value === undefined ? undefined : Number(value);
    };
    const owner = valueOf(/^rollkeeper_slots\{[^}]*role="owner"[^}]*\} (\d+)$/m);
    const standby = valueOf(/^rollkeeper_slots\{[^}]*role="standby"[^}]*\} (\d+)$/m);
    const unowned = valueOf(/^rollkeeper_unowned_slots(?:\{[^}]*\})? (\d+)$/m);
    return owner === undefined || standby === undefined
      ? undefined
      : { owner, standby, ...(unowned !== undefined && { unowned }) };
  }

  async function held(): Promise<readonly HeldThere[]> {
    const { replicas } = await up.status();
    const all = await Promise.all(replicas.map((replica) => heldBy(replica)));
    return all.flatMap((each) => each ?? []);
  }

  /** Waits until each replica works on slots, each slot has one owner and one standby. */
  async function shared(): Promise<void> {
    await waitFor(
      async () => {
        const all = await held();
        const sum = (role: 'owner' | 'standby'): number => all.reduce((total, each) => total + each[role], 0);
        return (
          all.length === REPLICAS &&
          all.every(({ owner }) => owner > 0) &&
          [sum('owner'), sum('standby')].every((total) => total === SLOTS)
        );
      },
      { what: 'all replicas to share the slots', intervalMs: 50 },
    );
  }

  const each = <T>(act: (rollouts: Rollouts, namespace: string) => Promise<T>): Promise<T[]> =>
    Promise.all(NAMESPACES.map((namespace) => act(new Rollouts(client, namespace), namespace)));

  const workers = async (): Promise<readonly ReplicaLine[]> =>
    (await up.status()).replicas.filter(({ leader }) => !leader);

  function podsMade(image: string): number {
    const isOfImage = (object: KubernetesObject): boolean =>
      (object as Pod).spec?.containers[0]?.image === image;
    const made = history.events().filter(({ kind, object }) => kind === 'Pod' && isOfImage(object));
    return new Set(made.map(({ object }) => object.metadata.uid)).size;
  }

  /** Each rollout creates as many pods as the Deployment wants, and no one twice. */
  function expectNoPodTwice(image: string): void {
    expect(podsMade(image), image).toBe(SLOTS * PODS);
    expect(findViolations(history.events())).toEqual([]);
  }

  async function killedInTheMiddle(image: string, pidOf: () => Promise<number>): Promise<void> {
    await each((rollouts) => rollouts.setImage('web', image));
    await waitFor(() => podsMade(image) > 0, { what: 'rollouts to begin', intervalMs: 20 });
    process.kill(await pidOf(), 'SIGKILL');
    await each((rollouts) => rollouts.rolledOut('web'));
    expectNoPodTwice(image);
  }

  it('work on each slot in one of them, and roll out in all namespaces', async () => {
    await shared();
    await each(async (rollouts, namespace) => {
      await client.create(
        Deployment,
        aDeployment({ namespace, name: 'web', replicas: PODS, minReadySeconds: 1 }),
      );
      await rollouts.rolledOut('web');
    });
    expectNoPodTwice('web:1');
  });

  it('keep the objects of the slots that they own or stand by for, and no others', async () => {
    const { replicas } = await up.status();
    const token = await up.adminToken();
    const { items } = await client.list<Pod>(Pod, {});
    expect(items).toHaveLength(SLOTS * PODS);
    for (const replica of replicas) {
      const { owner = 0, standby = 0 } = (await heldBy(replica)) ?? {};
      const status = await askStatus(replica, token);
      const cached = status?.informers.find(({ resource }) => resource === 'pods')?.objects;
      expect(cached).toBe((owner + standby) * PODS);
      expect(cached).toBeLessThan(items.length);
    }
  });

  it('go on in every namespace when one that works is killed in the middle of all rollouts', async () => {
    await killedInTheMiddle('web:2', async () => (await workers())[0]?.pid ?? 0);
  });

  it('give slots to the replica that comes back', async () => {
    await shared();
  });

  it('go on in every namespace when the leader is killed in the middle of all rollouts', async () => {
    await killedInTheMiddle('web:3', async () => (await up.leader()).pid);
    await shared();
  });

  it('hand their slots over when one is stopped in the middle of all rollouts', async () => {
    await each((rollouts) => rollouts.setImage('web', 'web:4'));
    process.kill((await workers())[0]?.pid ?? 0, 'SIGTERM');
    await each((rollouts) => rollouts.rolledOut('web'));
    expectNoPodTwice('web:4');
    await shared();
    const unowned = (await held()).flatMap((each) => each.unowned ?? []);
    expect(unowned).toEqual([0]);
  });

  it.each(['Foreground', 'Background', 'Orphan'] as const)(
    'collect what Deployments and an object without a namespace own in every slot while one that works is killed: %s',
    async (propagationPolicy) => {
      const name = `owned-${propagationPolicy.toLowerCase()}`;
      // An owner in all slots, whose dependents no single replica sees.
      const identity = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' } as const;
      const owner = await client.create(PriorityClass, { ...identity, metadata: { name }, value: 1 });
      const { uid = '' } = owner.metadata;
      const ownerReferences = [{ ...identity, name, uid, blockOwnerDeletion: true }];
      await each(async (rollouts, namespace) => {
        const metadata = { name, namespace, ownerReferences };
        await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
        await client.create(Deployment, aDeployment({ namespace, name, replicas: PODS }));
        await rollouts.rolledOut(name);
      });
      const left = async (type: ResourceType): Promise<readonly KubernetesObject[]> =>
        (await client.list(type, {})).items.filter(({ metadata }) => metadata.name.startsWith(name));
      const victim = (await workers())[0]?.pid ?? 0;
      await each((_rollouts, namespace) =>
        client.delete(Deployment, { namespace, name }, { propagationPolicy }),
      );
      await client.delete(PriorityClass, { name }, { propagationPolicy });
      process.kill(victim, 'SIGKILL');
      const isOrphaned = propagationPolicy === 'Orphan';
      await waitFor(
        async () => {
          const gone = await Promise.all([left(Deployment), left(PriorityClass)]);
          const dependents = await Promise.all([left(ReplicaSet), left(Pod), left(ConfigMap)]);
          const [replicaSets, pods, configMaps] = dependents.map(({ length }) => length);
          const references = [...dependents[0], ...dependents[2]].flatMap(
            ({ metadata }) => metadata.ownerReferences ?? [],
          );
          return (
            gone.every(({ length }) => length === 0) &&
            replicaSets === (isOrphaned ? SLOTS : 0) &&
            pods === (isOrphaned ? SLOTS * PODS : 0) &&
            configMaps === (isOrphaned ? SLOTS : 0) &&
            references.length === 0
          );
        },
        { what: `all that is owned to be collected: ${propagationPolicy}`, intervalMs: 200 },
      );
      await shared();
    },
  );

  it('notice what is deleted in any slot', async () => {
    await each((_rollouts, namespace) => client.delete(Deployment, { namespace, name: 'web' }));
    const isOfWeb = ({ metadata }: Pod): boolean => metadata.name.startsWith('web-');
    await waitFor(async () => !(await client.list<Pod>(Pod, {})).items.some(isOfWeb), {
      what: 'all pods to be gone',
    });
  });
});
