import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '@rollkeeper/client/api-client';
import { FakeClock, atEndOfTurn, toRfc3339 } from '@rollkeeper/machinery/clock';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
  ConfigMap,
  Deployment,
  Node,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
} from '@rollkeeper/machinery/kubernetes';
import { DaemonSet, StatefulSet } from '@rollkeeper/runtime';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { certificateProblems, replicaProblems } from './beside-problems.js';
import { findProblems, registryIn } from './find-problems.js';
import { renderProblems } from './render-diagnosis.js';

const clock = new FakeClock();

const progressing = (status: string, reason: string) => ({
  ...{ type: 'Progressing', status, reason, message: 'it has taken too long' },
  lastTransitionTime: toRfc3339(clock.now()),
});

function seed(cluster: FakeCluster, type: ResourceType, name: string, namespace: string, fields: object) {
  cluster.seed(type, {
    apiVersion: type.group === '' ? type.version : `${type.group}/${type.version}`,
    kind: type.kind,
    metadata: { name, uid: `uid-${namespace}-${name}`, ...(type.namespaced && { namespace }) },
    ...fields,
  });
}

const lost = { spec: {}, status: { phase: 'Lost' } };

function setWithBadImage(cluster: FakeCluster, name: string): void {
  seed(cluster, StatefulSet, name, 'shop', { spec: { replicas: 1, selector: {}, template: {} } });
  const message = 'Back-off pulling image "ghcr.io/acme/db:2"';
  cluster.seed(Pod, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-0`,
      namespace: 'shop',
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid: `uid-shop-${name}`, controller: true },
      ],
    },
    spec: { containers: [] },
    status: {
      containerStatuses: [
        { name: 'c', restartCount: 0, state: { waiting: { reason: 'ImagePullBackOff', message } } },
      ],
    },
  } as unknown as KubernetesObject);
}

describe('problems', () => {
  it('are those of one namespace, without a look at others or at the cluster', async () => {
    const cluster = new FakeCluster(clock);
    seed(cluster, PersistentVolumeClaim, 'a', 'shop', lost);
    seed(cluster, PersistentVolumeClaim, 'b', 'other', lost);
    cluster.intercept = ({ key, type }) =>
      type.namespaced && key === 'shop'
        ? undefined
        : new ApiStatusError({ code: 403, reason: 'Forbidden', message: 'no' });
    const { notes, problems } = await findProblems(cluster, { namespace: 'shop', nowMs: clock.now() });
    expect(problems.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['PersistentVolumeClaim a']);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain('nodes');
  });

  it('come first if they are of the cluster, and a pod is named by its owner', async () => {
    const cluster = new FakeCluster(clock);
    setWithBadImage(cluster, 'db');
    seed(cluster, Node, 'n1', '', {
      status: {
        conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime: toRfc3339(clock.now()) }],
      },
    });
    const found = await findProblems(cluster, { nowMs: clock.now() });
    expect(found.problems.map(({ cause, kind }) => `${kind} ${cause}`)).toEqual([
      'Node node-not-ready',
      'StatefulSet image-pull',
    ]);
    expect(renderProblems(found)).toContain('Node n1\n  Degraded: its kubelet is silent');
    expect(renderProblems(found)).not.toContain('in the console');
    expect(renderProblems(found, ({ name }) => `https://console/${name}`)).toMatch(
      /Node n1\n.*\n( {2}would help: .*\n)? {2}in the console: https:\/\/console\/n1/,
    );
  });

  it('with images of one registry are reported once more as a problem of that registry', async () => {
    const cluster = new FakeCluster(clock);
    for (const name of ['a', 'b', 'c']) setWithBadImage(cluster, name);
    const { problems } = await findProblems(cluster, { nowMs: clock.now() });
    expect(problems[0]).toMatchObject({ kind: 'Registry', name: 'ghcr.io', cause: 'image-pull' });
    expect(problems).toHaveLength(4);
  });

  it('are found without a request where caches have what is looked at', async () => {
    const cluster = new FakeCluster(clock);
    const { namespace, ...deployment } = { ...aDeployment(), namespace: 'shop' };
    cluster.seed(Deployment, {
      ...deployment,
      metadata: { ...deployment.metadata, namespace, uid: 'uid-web' },
      status: { conditions: [progressing('False', 'ProgressDeadlineExceeded')] },
    } as unknown as KubernetesObject);
    const caches = new Map([[Deployment, cluster.all(Deployment)]]);
    const { problems, reads } = await findProblems(cluster, {
      nowMs: clock.now(),
      kinds: [],
      cached: (type) => caches.get(type) ?? [],
    });
    expect(problems).toMatchObject([
      { kind: 'Deployment', apiVersion: 'apps/v1', namespace: 'shop', name: 'web', uid: 'uid-web' },
    ]);
    expect({ reads: reads.api, requests: cluster.requests.length }).toEqual({ reads: 0, requests: 0 });
  });

  it('are looked for in one namespace without the lists of the cluster, where that is asked for', async () => {
    const cluster = new FakeCluster(clock);
    await findProblems(cluster, { namespace: 'shop', nowMs: clock.now(), staysInNamespace: true });
    expect(new Set(cluster.requests.map(({ key }) => key))).toEqual(new Set(['shop']));
  });

  it('are looked for in pieces if the objects are many, and other work has its turn in between', async () => {
    const cluster = new FakeCluster(clock);
    for (let number = 0; number < 200; number++)
      seed(cluster, PersistentVolumeClaim, `claim-${number}`, 'shop', lost);
    let turns = 0;
    const counting = { isOn: true };
    const count = (): void => {
      turns += 1;
      if (counting.isOn) atEndOfTurn(count);
    };
    atEndOfTurn(count);
    const { looked, problems } = await findProblems(cluster, { nowMs: clock.now() });
    counting.isOn = false;
    expect({ looked, problems: problems.length }).toEqual({ looked: 200, problems: 200 });
    expect(turns).toBeGreaterThanOrEqual(3);
  });

  it('reads each list once', async () => {
    const cluster = new FakeCluster(clock);
    await findProblems(cluster, { nowMs: clock.now() });
    const lists = cluster.requests.map(({ key, type }) => `${type.group}/${type.resource} ${key}`);
    expect(new Set(lists).size).toBe(lists.length);
  });
});

describe('problems beside those of a kind', () => {
  const workload = (selector: object, labels: object) => ({
    spec: { replicas: 0, selector: { matchLabels: selector }, template: { metadata: { labels } } },
    status: { observedGeneration: 1, desiredNumberScheduled: 1 },
  });
  const causesOf = ({ problems }: Awaited<ReturnType<typeof findProblems>>) =>
    problems.map(({ cause, kind, name }) => `${kind} ${name}: ${cause}`);

  it('are workloads of any kind that select the pods of another one, of their namespace', async () => {
    const cluster = new FakeCluster(clock);
    seed(cluster, StatefulSet, 'db', 'shop', workload({ app: 'a' }, { app: 'a' }));
    seed(cluster, DaemonSet, 'log', 'shop', workload({ app: 'a', on: 'node' }, { app: 'a', on: 'node' }));
    seed(cluster, DaemonSet, 'log', 'other', workload({ app: 'a' }, { app: 'a' }));
    const found = await findProblems(cluster, { nowMs: clock.now() });
    expect(causesOf(found)).toEqual(['StatefulSet db: selector-conflict']);
    expect(found.problems[0]).toMatchObject({
      state: 'degraded',
      sentence: 'Degraded: its selector takes the pods of DaemonSet log as well.',
    });
  });

  it('are objects of kinds that are not diagnosed, which a finalizer holds for ten seconds', async () => {
    const cluster = new FakeCluster(clock);
    cluster.discovered = [{ ...ConfigMap, verbs: ['list', 'delete'] }] as typeof cluster.discovered;
    const deleted = (seconds: number, finalizers: readonly string[]) => ({
      metadata: {
        ...{ namespace: 'shop', uid: `uid-${seconds}`, name: `deleted-${seconds}`, finalizers },
        deletionTimestamp: toRfc3339(clock.now() - seconds * 1000),
      },
    });
    for (const fields of [deleted(9, ['a.example/b']), deleted(11, ['a.example/b']), deleted(12, ['orphan'])])
      seed(cluster, ConfigMap, fields.metadata.name, 'shop', fields);
    expect((await findProblems(cluster, { nowMs: clock.now() })).problems).toEqual([]);
    const found = await findProblems(cluster, { nowMs: clock.now(), ofEveryKind: true });
    expect(causesOf(found)).toEqual(['ConfigMap deleted-11: finalizers']);
    expect(found.problems[0]?.unblockedBy[0]).toContain('a.example/b');
  });

  it('do not ask again for a list of another kind that was refused, for ten minutes', async () => {
    const cluster = new FakeCluster(clock);
    cluster.discovered = [{ ...ConfigMap, verbs: ['list', 'delete'] }] as typeof cluster.discovered;
    let asked = 0;
    cluster.intercept = ({ type }) => {
      if (type.resource !== ConfigMap.resource) return undefined;
      asked++;
      return new ApiStatusError({ code: 403, message: 'no' });
    };
    const refused = new Map<string, number>();
    for (const laterMs of [0, 30_000, 599_000, 600_000])
      await findProblems(cluster, { nowMs: clock.now() + laterMs, ofEveryKind: true, kinds: [], refused });
    expect(asked).toBe(2);
  });

  it('are ReplicaSets that a finalizer holds, although a Deployment has them', async () => {
    const cluster = new FakeCluster(clock);
    seed(cluster, ReplicaSet, 'web-1', 'shop', {
      metadata: {
        ...{ name: 'web-1', namespace: 'shop', uid: 'set', finalizers: ['a.example/b'] },
        deletionTimestamp: toRfc3339(clock.now() - 60_000),
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'web', controller: true },
        ],
      },
      ...workload({ app: 'a' }, { app: 'a' }),
    });
    expect(causesOf(await findProblems(cluster, { nowMs: clock.now() }))).toEqual([
      'ReplicaSet web-1: finalizers',
    ]);
  });

  it('are replicas that hang, and certificates that end within a day', async () => {
    const nowMs = clock.now();
    const of = (hours: number) => ({
      what: `certificate of ${hours} h`,
      endsAtMs: nowMs + hours * 3_600_000,
      remedy: 'renew it',
    });
    const beside = async () => [
      ...replicaProblems([
        { identity: 'controller-0', adminUrl: '', reachable: true },
        { identity: 'controller-1', adminUrl: 'http://there', reachable: false, problem: 'it hangs' },
      ]),
      ...certificateProblems([of(25), of(23), of(-1), { ...of(1), endsAtMs: undefined }], nowMs),
    ];
    const found = await findProblems(new FakeCluster(clock), { nowMs, beside });
    expect(causesOf(found)).toEqual([
      'Replica controller-1: replica-silent',
      'Certificate certificate of 23 h: certificate-ends',
      'Certificate certificate of -1 h: certificate-ends',
    ]);
    expect(renderProblems(found)).toContain('it (http://there) does not answer: it hangs');
  });

  it('has one end of a sentence that asks something', async () => {
    const cluster = new FakeCluster(clock);
    const deployment = aDeployment({ replicas: 0 });
    deployment.metadata.annotations = { 'rollkeeper.dev/bake-tme': '5m' };
    cluster.seed(Deployment, deployment);
    const { problems } = await findProblems(cluster, { nowMs: clock.now() });
    expect(problems[0]?.cause).toBe('invalid-policy');
    expect(problems[0]?.sentence).toMatch(/did you mean rollkeeper\.dev\/bake-time\?$/);
  });
});

describe('the registry of an image', () => {
  it.each([
    ['Back-off pulling image "nginx:1"', 'docker.io'],
    ['Back-off pulling image "acme/web:1"', 'docker.io'],
    ['Back-off pulling image "localhost:5000/web:1"', 'localhost:5000'],
    ['Back-off pulling image "ghcr.io/acme/web@sha256:00"', 'ghcr.io'],
    ['no image here', undefined],
  ])('%s', (message, registry) => {
    expect(registryIn(message)).toBe(registry);
  });
});
