import { describe, expect, it } from 'vitest';
import { FakeClock, toRfc3339 } from '../../../machinery/clock/index.js';
import type { ResponderState } from '../../../machinery/kubernetes/index.js';
import {
  Deployment,
  EVICTION_ASKED,
  Eviction,
  Namespace,
  Pod,
  ReplicaSet,
} from '../../../machinery/kubernetes/index.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { FakeInformers } from '../../../testing/fake-informers.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { aPod } from '../../../testing/pod-builder.js';
import { aReplicaSet } from '../../../testing/replicaset-harness.js';
import { runController } from '../../../testing/run-controller.js';
import { createEvictionResponder } from './eviction-responder.js';

const MINUTE_MS = 60_000;
const OWN = 'rollkeeper.dev/deployment';
const KEY = 'default/pod-1-web-1';
const ON_EVICTION = 'rollkeeper.dev/on-eviction';

interface Shape {
  readonly annotations?: Record<string, string>;
  readonly namespaceAnnotations?: Record<string, string>;
  readonly state?: ResponderState;
  readonly edit?: (deployment: Deployment) => void;
  /** The objects that the caches do not have yet. @default none */
  readonly unseen?: 'deployment' | 'both owners' | 'the policy';
}

function aLab({
  annotations = { [ON_EVICTION]: 'surge' },
  edit,
  namespaceAnnotations,
  state = 'Active',
  unseen,
}: Shape = {}) {
  const clock = new FakeClock();
  const cluster = new FakeCluster(clock);
  const informers = new FakeInformers(cluster);
  const running = runController(createEvictionResponder(['apps/v1']), cluster, { clock, informers });
  const hideIf = (isHidden: boolean, seed: () => void): void => {
    if (isHidden) informers.pause();
    seed();
    informers.dropHeld();
    informers.resume();
  };
  const deployment = aDeployment({ annotations });
  deployment.metadata = { ...deployment.metadata, uid: 'd-1', generation: 1 };
  deployment.status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1 };
  edit?.(deployment);
  const { name } = deployment.metadata;
  if (unseen === 'the policy')
    cluster.seed(Deployment, { ...deployment, metadata: { ...deployment.metadata, annotations: {} } });
  hideIf(unseen !== undefined, () => void cluster.seed(Deployment, deployment));
  const set = aReplicaSet();
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid: 'd-1', controller: true };
  set.metadata = { ...set.metadata, uid: 's-1', ownerReferences: [owner] };
  hideIf(unseen === 'both owners', () => void cluster.seed(ReplicaSet, set));
  if (namespaceAnnotations)
    cluster.seed<Namespace>(Namespace, {
      ...{ apiVersion: 'v1', kind: 'Namespace' },
      metadata: { name: 'default', annotations: namespaceAnnotations },
    });
  const since = toRfc3339(clock.now());
  const pod = aPod({ name: 'web-1', ownerUid: 's-1', ownerName: set.metadata.name, readySince: since });
  cluster.seed(Pod, pod);
  const lab = {
    ...{ clock, cluster, running },
    pod: () => cluster.peek<Pod>(Pod, 'default/web-1'),
    asked: () => lab.pod()?.metadata.annotations?.[EVICTION_ASKED],
    report: () => cluster.peek<Eviction>(Eviction, KEY)?.status?.responders?.[0],
    async sync(): Promise<void> {
      running.add(KEY);
      const { errors } = await running.drain();
      for (const [, error] of errors) throw error;
    },
    async change(body: object): Promise<void> {
      const [namespace = '', target = ''] = KEY.split('/');
      await cluster.patch(Eviction, { namespace, name: target }, { type: 'merge', body });
    },
  };
  cluster.seed<Eviction>(Eviction, {
    ...{ apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'Eviction' },
    metadata: { name: 'pod-1-web-1', namespace: 'default', generation: 1 },
    spec: { target: { pod: { name: 'web-1', uid: pod.metadata.uid ?? '' } } },
    status: {
      targetResponders: [{ name: OWN, priority: 10_000, state }],
      responders: [{ name: OWN, startTime: since }],
    },
  });
  return lab;
}

describe('a Deployment that responds to an eviction', () => {
  it('is told by its pod, says what it waits for, and is done when the pod is gone', async () => {
    const lab = aLab();
    await lab.sync();
    expect(lab.asked()).toBe(toRfc3339(lab.clock.now()));
    expect(lab.report()?.message).toMatch(
      /^Deployment \S+ starts another pod; web-1 goes when that one is available$/,
    );
    expect(lab.report()?.heartbeatTime).toBeDefined();
    expect(lab.running.requeues.get(KEY)).toBe(2 * MINUTE_MS);
    lab.cluster.vanish(Pod, 'default/web-1');
    await lab.sync();
    expect(lab.report()).toMatchObject({
      message: 'Pod web-1 is gone',
      completionTime: toRfc3339(lab.clock.now()),
    });
  });

  it('repeats the request before it lapses, and gives a sign of life each time', async () => {
    const lab = aLab();
    await lab.sync();
    await lab.clock.advance(2 * MINUTE_MS);
    await lab.sync();
    expect(lab.asked()).toBe(toRfc3339(lab.clock.now()));
    expect(lab.report()?.heartbeatTime).toBe(lab.asked());
  });

  it('takes a repeated request back as well, also if it died before it reported it', async () => {
    const lab = aLab();
    await lab.sync();
    await lab.clock.advance(2 * MINUTE_MS);
    const body = { metadata: { annotations: { [EVICTION_ASKED]: toRfc3339(lab.clock.now()) } } };
    await lab.cluster.patch(Pod, { namespace: 'default', name: 'web-1' }, { type: 'merge', body });
    await lab.clock.advance(1000);
    await lab.sync();
    const conditions = [{ type: 'Failed', status: 'True', reason: 'CanceledDueToNoRequesters', message: '' }];
    const targetResponders = [{ name: OWN, priority: 10_000, state: 'Canceled' }];
    await lab.change({ status: { conditions, targetResponders } });
    await lab.sync();
    expect(lab.asked()).toBeUndefined();
  });

  it.each(['2100-01-01T00:00:00Z', 'node-1'])(
    'writes nothing again and again for the mark %s',
    async (mark) => {
      const lab = aLab();
      const body = { metadata: { annotations: { [EVICTION_ASKED]: mark } } };
      await lab.cluster.patch(Pod, { namespace: 'default', name: 'web-1' }, { type: 'merge', body });
      await lab.sync();
      await lab.clock.advance(1000);
      const before = lab.report();
      await lab.sync();
      expect(lab.report()).toEqual(before);
      expect(lab.asked()).toBe(mark);
    },
  );

  it('does nothing before its turn, and nothing after it', async () => {
    for (const state of ['Inactive', 'Completed', 'Interrupted'] as const) {
      const lab = aLab({ state });
      await lab.sync();
      expect([lab.asked(), lab.report()?.heartbeatTime], state).toEqual([undefined, undefined]);
    }
  });

  it('takes the request back when the eviction is canceled, and no newer one', async () => {
    const lab = aLab();
    await lab.sync();
    const conditions = [{ type: 'Failed', status: 'True', reason: 'CanceledDueToNoRequesters', message: '' }];
    const targetResponders = [{ name: OWN, priority: 10_000, state: 'Canceled' }];
    await lab.change({ status: { conditions, targetResponders } });
    await lab.sync();
    expect(lab.asked()).toBeUndefined();
    await lab.clock.advance(MINUTE_MS);
    const body = { metadata: { annotations: { [EVICTION_ASKED]: toRfc3339(lab.clock.now()) } } };
    await lab.cluster.patch(Pod, { namespace: 'default', name: 'web-1' }, { type: 'merge', body });
    await lab.sync();
    expect(lab.asked()).toBeDefined();
  });

  it.each<[string, Shape, string]>([
    ['does not replace pods first', { annotations: {} }, 'replaces no pods first'],
    ['is paused', { edit: ({ spec }) => void (spec.paused = true) }, 'replaces no pods first'],
    [
      'makes no progress',
      {
        edit: (deployment) => {
          const condition = {
            type: 'Progressing',
            status: 'False' as const,
            reason: 'ProgressDeadlineExceeded',
          };
          deployment.status = { ...deployment.status, conditions: [condition] };
        },
      },
      'makes no progress',
    ],
  ])('leaves it to the next responder at once if it %s', async (_name, shape, why) => {
    const lab = aLab(shape);
    await lab.sync();
    expect(lab.asked()).toBeUndefined();
    expect(lab.report()?.completionTime).toBeDefined();
    expect(lab.report()?.message).toContain('Left to the next responder: ');
    expect(lab.report()?.message).toContain(why);
  });

  it.each(['deployment', 'both owners', 'the policy'] as const)(
    'keeps its turn if the caches do not have %s yet',
    async (unseen) => {
      const lab = aLab({ unseen });
      await lab.sync();
      expect(lab.asked()).toBe(toRfc3339(lab.clock.now()));
      expect(lab.report()?.completionTime).toBeUndefined();
      expect(lab.report()?.message).toContain('starts another pod');
    },
  );

  it('leaves the turn to the next responder if an owner was deleted and created again', async () => {
    const lab = aLab();
    const deployment = lab.cluster.all<Deployment>(Deployment)[0];
    if (!deployment) throw new Error('there is no Deployment');
    lab.cluster.vanish(Deployment, `default/${deployment.metadata.name}`);
    lab.cluster.seed(Deployment, { ...deployment, metadata: { ...deployment.metadata, uid: 'd-2' } });
    await lab.sync();
    expect(lab.report()?.message).toContain('no Deployment controls pod web-1');
    expect(lab.report()?.completionTime).toBeDefined();
  });

  it('asks the API for owners once, before it declines, and not while it replaces', async () => {
    const owners = (lab: ReturnType<typeof aLab>): string[] =>
      lab.cluster.requests
        .filter(({ type, verb }) => verb === 'get' && type.resource !== 'pods')
        .map(({ type }) => type.resource);
    const replacing = aLab();
    await replacing.sync();
    expect(owners(replacing)).toEqual([]);
    const declining = aLab({ annotations: {} });
    await declining.sync();
    await declining.sync();
    expect(owners(declining)).toEqual(['replicasets', 'deployments']);
  });

  it('leaves the mark on the pod while it has its turn in another eviction of the pod', async () => {
    const lab = aLab({ state: 'Canceled' });
    const eviction = lab.cluster.peek<Eviction>(Eviction, KEY);
    if (!eviction) throw new Error('there is no eviction');
    const now = toRfc3339(lab.clock.now());
    lab.cluster.seed<Eviction>(Eviction, {
      ...eviction,
      metadata: { name: 'another', namespace: 'default' },
      status: {
        targetResponders: [{ name: OWN, priority: 10_000, state: 'Active' }],
        responders: [{ name: OWN, startTime: now, heartbeatTime: now }],
      },
    });
    await lab.change({ status: { responders: [{ name: OWN, startTime: now, heartbeatTime: now }] } });
    const body = { metadata: { annotations: { [EVICTION_ASKED]: now } } };
    await lab.cluster.patch(Pod, { namespace: 'default', name: 'web-1' }, { type: 'merge', body });
    const patches = lab.cluster.count('patch', Pod);
    await lab.sync();
    expect(lab.asked()).toBe(now);
    expect(lab.cluster.count('patch', Pod), 'neither removed nor written again').toBe(patches);
  });

  it('is in slots: a replica processes and caches the namespaces of its slots alone', () => {
    expect(createEvictionResponder(['apps/v1']).perNamespace).toBe(true);
  });

  it('goes by the default of its Namespace', async () => {
    const lab = aLab({ annotations: {}, namespaceAnnotations: { [ON_EVICTION]: 'surge' } });
    await lab.sync();
    expect(lab.asked()).toBeDefined();
  });

  it('leaves another pod of the name alone', async () => {
    const lab = aLab();
    const pod = lab.pod();
    lab.cluster.vanish(Pod, 'default/web-1');
    lab.cluster.seed(Pod, { ...pod, metadata: { ...pod?.metadata, uid: 'another' } } as Pod);
    await lab.sync();
    expect(lab.asked()).toBeUndefined();
    expect(lab.report()?.message).toBe('Pod web-1 is gone');
  });
});
