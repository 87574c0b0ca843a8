import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../client/api-client/index.js';
import { Deployment, RollkeeperDeployment } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { PLAIN } from '../../terminal/index.js';
import { readTopFromApi, readTopFromReplica, rolloutOfObject } from './read-top.js';
import { linesOfChange, renderTop } from './render-top.js';
import type { TopRollout, TopView } from './top-view.js';
import { inOrder } from './top-view.js';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const AT = '2026-01-01T12:00:00Z';

/** A Deployment of three pods, `changes` in its status. */
function deployment(name: string, changes: Partial<Deployment['status']> = {}): Deployment {
  const made = aDeployment({ replicas: 3 });
  made.metadata.name = name;
  const complete = { updatedReplicas: 3, replicas: 3, availableReplicas: 3, observedGeneration: 9 };
  return { ...made, status: { ...complete, ...changes } };
}
const condition = (reason: string, message = '') => ({
  conditions: [{ type: 'Progressing', status: 'False' as const, reason, message }],
});
const rollout = (name: string, changes: Partial<TopRollout> = {}): TopRollout => ({
  ...{ apiVersion: 'apps/v1', namespace: 'shop', name, state: 'progressing', wanted: 3, updated: 1 },
  ...{ available: 3, pods: 4, why: '1 of 3 updated.' },
  ...changes,
});

describe('movements, as the objects tell them', () => {
  it.each([
    ['nothing of one that is complete', deployment('web'), undefined],
    ['a rollout', deployment('web', { updatedReplicas: 1 }), 'progressing'],
    [
      'one that is stuck',
      deployment('web', { updatedReplicas: 1, ...condition('ProgressDeadlineExceeded') }),
      'blocked',
    ],
    [
      'one that was complete, and has lost pods',
      deployment('web', { availableReplicas: 2, ...condition('NewReplicaSetAvailable') }),
      'degraded',
    ],
    [
      'one that is paused',
      { ...deployment('web'), spec: { ...deployment('web').spec, paused: true } },
      'paused',
    ],
  ])('is %s', (_, object, state) => {
    expect(rolloutOfObject(object, NOW)[0]?.state).toBe(state);
  });

  it('is read from both APIs, and from the one that may be read', async () => {
    const cluster = new FakeCluster();
    cluster.seed(Deployment, deployment('web', { updatedReplicas: 1 }));
    const options = { nowMs: NOW, signal: new AbortController().signal };
    cluster.intercept = ({ type }) =>
      type === RollkeeperDeployment ? new ApiStatusError({ code: 404, message: 'not served' }) : undefined;
    const view = await readTopFromApi(cluster, options);
    expect(view).toMatchObject({ total: 1, rollouts: [{ name: 'web', updated: 1, wanted: 3 }] });
    cluster.intercept = () => new ApiStatusError({ code: 403, message: 'forbidden' });
    await expect(readTopFromApi(cluster, options)).rejects.toThrow('forbidden');
  });

  it('is of one namespace, for a user who has no other', async () => {
    const cluster = new FakeCluster();
    cluster.seed(Deployment, deployment('web', { updatedReplicas: 1 }));
    cluster.intercept = ({ key }) =>
      key === 'default' ? undefined : new ApiStatusError({ code: 403, message: 'forbidden' });
    const options = { nowMs: NOW, signal: new AbortController().signal, namespace: 'default' };
    expect((await readTopFromApi(cluster, options)).rollouts).toHaveLength(1);
  });
});

describe('movements, as a replica tells them', () => {
  it('has queues and replicas beside', async () => {
    const counts = { total: 4, updated: 1, ready: 3, available: 3 };
    const glance = { apiVersion: 'apps/v1', namespace: 'shop', sentence: 'It moves.', wanted: 3, counts };
    const answers: Readonly<Record<string, unknown>> = {
      '/admin/deployments': [
        { ...glance, name: 'web', state: 'progressing' },
        { ...glance, name: 'done', state: 'complete' },
        { ...glance, namespace: 'other', name: 'api', state: 'blocked' },
      ],
      '/admin/queues': [
        { controller: 'deployment', counts: { waiting: 1, active: 2, delayed: 0, parked: 0 } },
      ],
      '/admin/replicas': { replicas: [{ identity: 'r0', leader: true, reachable: true, running: [{}, {}] }] },
    };
    const view = await readTopFromReplica(async (path) => answers[path] as never, NOW, 'shop');
    expect(view).toEqual({
      at: AT,
      total: 2,
      rollouts: [rollout('web', { why: 'It moves.' })],
      queues: [{ controller: 'deployment', waiting: 1, active: 2, delayed: 0, parked: 0 }],
      replicas: [{ identity: 'r0', leader: true, reachable: true, running: 2 }],
    });
  });
});

describe('movements, on a screen', () => {
  it('has the worst first, by name', () => {
    const all = [rollout('b'), rollout('a'), rollout('z', { state: 'blocked' })];
    expect(inOrder(all).map(({ name }) => name)).toEqual(['z', 'a', 'b']);
  });

  it('has the sum, the rollouts, the queues that are not empty, and the replicas', () => {
    const view: TopView = {
      at: AT,
      total: 5,
      rollouts: [rollout('web')],
      queues: [{ controller: 'deployment', waiting: 1, active: 0, delayed: 0, parked: 2 }],
      replicas: [{ identity: 'r0', leader: true, reachable: true, version: '1', running: 1 }],
    };
    expect(renderTop(view, PLAIN)).toBe(
      [
        '2026-01-01T12:00:00Z  5 Deployments: 1 progressing',
        '',
        'NAMESPACE  DEPLOYMENT  STATE        UPDATED  AVAILABLE  PODS  WHY',
        'shop       web         progressing  1/3      3/3        4     1 of 3 updated.',
        '',
        'QUEUE       WAITING  RUNNING  DELAYED  PARKED',
        'deployment  1        0        0        2',
        '',
        'REPLICA  ROLE    VERSION  RUNNING',
        'r0       leader  1        1',
      ].join('\n'),
    );
  });
});

describe('movements, in a pipe', () => {
  const view = (changes: Partial<TopView>): TopView => ({ at: AT, total: 1, rollouts: [], ...changes });

  it('has a line for each change, and none where nothing has changed', () => {
    const first = view({ rollouts: [rollout('web')] });
    expect(linesOfChange(undefined, first)).toEqual([
      `${AT} shop/web progressing updated=1/3 available=3/3 pods=4: 1 of 3 updated.`,
    ]);
    expect(linesOfChange(first, { ...first, at: 'later' })).toEqual([]);
    expect(linesOfChange(first, view({ rollouts: [rollout('web', { updated: 2 })] }))).toHaveLength(1);
    expect(linesOfChange(first, view({}))).toEqual([`${AT} shop/web no longer moves`]);
  });

  it('says once that nothing moves, and tells keys that are parked', () => {
    expect(linesOfChange(undefined, view({}))).toEqual([`${AT} nothing moves`]);
    const queues = [{ controller: 'deployment', waiting: 0, active: 0, delayed: 0, parked: 1 }];
    expect(linesOfChange(view({}), view({ queues }))).toEqual([`${AT} queue deployment: 1 parked`]);
  });
});
