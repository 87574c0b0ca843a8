import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../client/api-client/index.js';
import { Deployment, Event, ReplicaSet, newControllerRef } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { PLAIN } from '../../terminal/index.js';
import { readTimeline } from './rollout-verbs.js';
import type { ObjectEvent } from '../object-event.js';
import { renderTimeline } from './timeline.js';

const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;

function seeded() {
  const cluster = new FakeCluster();
  const deployment = aDeployment({ image: 'app:1' });
  deployment.metadata.creationTimestamp = at(0);
  const { selector, template } = deployment.spec;
  const first = {
    revision: '1',
    at: at(1),
    trigger: 'change',
    tool: 'kubectl-create',
    ended: { as: 'complete', at: at(2) },
  };
  const failed = {
    ...{ revision: '2', at: at(4), trigger: 'change', by: 'release', user: 'anna', tool: 'kubectl-set' },
    ...{
      what: 'container app: image app:1 → app:2',
      ended: { as: 'failed', at: at(5), why: 'its pods crashed' },
    },
  };
  const back = { revision: '3', at: at(6), trigger: 'rollback', by: 'rollkeeper', why: 'its pods crashed' };
  const set = (name: string, image: string, revision: string, entries: object[]): ReplicaSet => ({
    ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet' },
    metadata: {
      ...{ name, namespace: 'default', uid: name, ownerReferences: [newControllerRef(deployment)] },
      annotations: {
        'deployment.kubernetes.io/revision': revision,
        'rollkeeper.dev/revisions': JSON.stringify(entries),
      },
    },
    spec: {
      replicas: 1,
      selector,
      template: { ...template, spec: { containers: [{ name: 'app', image }] } },
    },
  });
  cluster.seed(ReplicaSet, set('web-1', 'app:1', '3', [back, first]));
  cluster.seed(ReplicaSet, set('web-2', 'app:2', '2', [failed]));
  const event = (name: string, uid: string | undefined, minute: number): ObjectEvent => ({
    ...{ apiVersion: 'v1', kind: 'Event', metadata: { name, namespace: 'default' } },
    ...{ reason: 'ScalingReplicaSet', message: `Scaled up ${name}`, count: 2, lastTimestamp: at(minute) },
    ...{ source: { component: 'deployment-controller' }, involvedObject: { uid } },
  });
  cluster.seed(Event, event('ours', deployment.metadata.uid, 3));
  cluster.seed(Event, event('of-its-set', 'web-2', 4));
  cluster.seed(Event, event('of-another', 'other', 3));
  return { client: cluster, type: Deployment, deployment };
}

describe('the time line of a Deployment', () => {
  it('tells what was asked, by whom and by which means, and how it ended, oldest first', async () => {
    const entries = await readTimeline(seeded(), { withEvents: false });
    expect(entries).toMatchObject([
      { at: at(0), kind: 'created' },
      { at: at(1), kind: 'asked', revision: '1', with: 'kubectl-create', what: 'a new template' },
      { at: at(2), kind: 'ended', revision: '1' },
      {
        ...{ at: at(4), kind: 'asked', revision: '2', by: 'claimed by release (anna)', with: 'kubectl-set' },
        what: 'a new template; container app: image app:1 → app:2',
      },
      {
        at: at(5),
        kind: 'failed',
        revision: '2',
        what: expect.stringContaining('its pods crashed') as string,
      },
      {
        ...{ at: at(6), kind: 'asked', revision: '3', by: 'rollkeeper' },
        what: 'a way back, by itself; because: its pods crashed',
      },
    ]);
  });

  it('has the Events of the Deployment and of its ReplicaSets, and of no other object', async () => {
    const entries = await readTimeline(seeded(), { withEvents: true });
    const events = entries.filter(({ kind }) => kind === 'event');
    expect(events.map(({ what }) => what)).toEqual([
      'ScalingReplicaSet: Scaled up ours (2 times)',
      'ScalingReplicaSet: Scaled up of-its-set (2 times)',
    ]);
  });

  it('is there for a user who may not read Events', async () => {
    const target = seeded();
    target.client.intercept = ({ type }) =>
      type === Event ? new ApiStatusError({ code: 403, message: 'forbidden' }) : undefined;
    expect(await readTimeline(target, { withEvents: true })).toHaveLength(6);
  });

  it('is a line for each, for people', async () => {
    const lines = renderTimeline(await readTimeline(seeded(), { withEvents: false }), PLAIN).split('\n');
    expect(lines[0]).toMatch(/^TIME +REVISION +WHAT +BY +WITH +DETAILS$/);
    expect(lines[4]).toMatch(
      /^2026-01-01T00:04:00Z +2 +asked +claimed by release \(anna\) +kubectl-set +a new template; /,
    );
    expect(renderTimeline([], PLAIN)).toBe('nothing is known of it');
  });
});
