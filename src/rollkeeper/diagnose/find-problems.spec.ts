import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '@rollkeeper/client/api-client';
import { FakeClock, atEndOfTurn, toRfc3339 } from '@rollkeeper/machinery/clock';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { DEPLOYMENTS, NODES, PODS, PERSISTENT_VOLUME_CLAIMS } from '@rollkeeper/machinery/kubernetes';
import { StatefulSet } from '@rollkeeper/runtime';
import { aDeployment } from '../../testing/deployment-builder.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import { findProblems } from './find-problems.js';
import { registryIn } from './registry-problems.js';
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
  cluster.seed(PODS, {
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
    seed(cluster, PERSISTENT_VOLUME_CLAIMS, 'a', 'shop', lost);
    seed(cluster, PERSISTENT_VOLUME_CLAIMS, 'b', 'other', lost);
    cluster.intercept = ({ key, type }) =>
      type.namespaced && key === 'shop'
        ? undefined
        : new ApiStatusError({ code: 403, reason: 'Forbidden', message: 'no' });
    const { notes, problems } = await findProblems(cluster, { namespace: 'shop', nowMs: clock.now() });
    expect(problems.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['PersistentVolumeClaim a']);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain('nodes');
  });

  it('of the cluster come before those of namespaces, and a pod is told by its owner', async () => {
    const cluster = new FakeCluster(clock);
    setWithBadImage(cluster, 'db');
    seed(cluster, NODES, 'n1', '', {
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

  it('with images of one registry are told once more as one of that registry', async () => {
    const cluster = new FakeCluster(clock);
    for (const name of ['a', 'b', 'c']) setWithBadImage(cluster, name);
    const { problems } = await findProblems(cluster, { nowMs: clock.now() });
    expect(problems[0]).toMatchObject({ kind: 'Registry', name: 'ghcr.io', cause: 'image-pull' });
    expect(problems).toHaveLength(4);
  });

  it('are found without a request where caches have what is looked at', async () => {
    const cluster = new FakeCluster(clock);
    const { namespace, ...deployment } = { ...aDeployment(), namespace: 'shop' };
    cluster.seed(DEPLOYMENTS, {
      ...deployment,
      metadata: { ...deployment.metadata, namespace, uid: 'uid-web' },
      status: { conditions: [progressing('False', 'ProgressDeadlineExceeded')] },
    } as unknown as KubernetesObject);
    const caches = new Map([[DEPLOYMENTS, cluster.all(DEPLOYMENTS)]]);
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

  it('of a namespace are looked for without the lists of the cluster, where that is asked for', async () => {
    const cluster = new FakeCluster(clock);
    await findProblems(cluster, { namespace: 'shop', nowMs: clock.now(), staysInNamespace: true });
    expect(new Set(cluster.requests.map(({ key }) => key))).toEqual(new Set(['shop']));
  });

  it('of many objects are looked for in pieces, between which other work has its turn', async () => {
    const cluster = new FakeCluster(clock);
    for (let number = 0; number < 200; number++)
      seed(cluster, PERSISTENT_VOLUME_CLAIMS, `claim-${number}`, 'shop', lost);
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
