import { describe, expect, it } from 'vitest';
import { ConfigMap, Deployment } from '../../../machinery/kubernetes/index.js';
import { StatefulSet } from '../../../runtime/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { findSetTarget } from './set-target.js';
import type { TimelineEntry } from './timeline.js';
import { joinTimelines, readWholeTimeline } from './whole-timeline.js';

const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
const entry = (
  minute: number,
  kind: TimelineEntry['kind'],
  more: Partial<TimelineEntry> = {},
): TimelineEntry => ({
  ...{ at: at(minute), kind, what: '' },
  ...more,
});

describe('a kept history and what is live', () => {
  it('tell each thing once, in the words of what is live', () => {
    const kept = [
      entry(0, 'created', { what: 'kept' }),
      entry(1, 'asked', { revision: '1', what: 'kept' }),
      entry(2, 'sized', { replicaSet: 'web-1' }),
      entry(3, 'ended', { revision: '1', what: 'kept' }),
    ];
    const live = [
      entry(0, 'created', { what: 'live' }),
      entry(1, 'asked', { revision: '1', what: 'live' }),
      entry(3, 'ended', { revision: '1', what: 'live' }),
      entry(4, 'event'),
    ];
    const joined = joinTimelines(kept, live);
    expect(joined.map(({ kind, what }) => `${kind} ${what}`.trim())).toEqual([
      ...['created live', 'asked live', 'sized', 'ended live', 'event'],
    ]);
  });

  it('count a change once that is in a coarser entry', () => {
    const kept = [
      entry(0, 'summary', { until: at(10), counts: { changes: 2 } }),
      entry(12, 'change', { revision: '3', result: 'complete' }),
    ];
    const live = [
      entry(5, 'asked', { revision: '2' }),
      entry(12, 'asked', { revision: '3' }),
      entry(13, 'ended', { revision: '3' }),
      entry(14, 'asked', { revision: '4' }),
    ];
    expect(joinTimelines(kept, live).map(({ kind, revision }) => `${kind} ${revision ?? ''}`.trim())).toEqual(
      [...['summary', 'change 3', 'asked 4']],
    );
  });

  it.each([
    ['marked as claimed where the API server does not vouch for it', false, 'claimed by ceo'],
    ['as it was recorded where the API server vouches for it', true, 'ceo'],
  ])('show a name %s', async (_what, isVerifying, by) => {
    const client = new FakeCluster();
    client.isVerifyingNames = isVerifying;
    const deployment = client.seed(Deployment, aDeployment());
    const { namespace, uid } = deployment.metadata;
    const recorded = { at: at(1), kind: 'approved', revision: '1', by: 'ceo', what: 'step 1' };
    client.seed(ConfigMap, {
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { namespace, name: `rollkeeper-history-${uid ?? ''}` },
      data: { recent: `${JSON.stringify(recorded)}\n` },
    });
    const target = { client, type: Deployment, deployment };
    const { entries } = await readWholeTimeline(target, { withEvents: false });
    expect(entries.find(({ kind }) => kind === 'approved')?.by).toBe(by);
  });

  it('are what is live alone, where nothing was kept', () => {
    const live = [entry(0, 'created'), entry(1, 'asked', { revision: '1' })];
    expect(joinTimelines([], live)).toEqual(live);
  });
});

it('says that no history of a StatefulSet or DaemonSet is kept, even if its namespace asks for one, and names the kind', async () => {
  const client = new FakeCluster();
  const metadata = {
    ...{ name: 'db', namespace: 'shop', uid: 'uid-db', creationTimestamp: at(0) },
    annotations: { 'rollkeeper.dev/steps': '1; approve', 'rollkeeper.dev/history': '14d' },
  };
  const spec = { replicas: 1, serviceName: 'db', selector: { matchLabels: { app: 'db' } }, template: {} };
  const parts = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec };
  client.seed<StatefulSet>(StatefulSet, parts);
  const target = { client, ...(await findSetTarget(client, StatefulSet, metadata)) };
  const { entries, keptFor, notes } = await readWholeTimeline(target, { withEvents: false });
  expect(entries).toMatchObject([{ kind: 'created', what: 'StatefulSet db was created' }]);
  expect(keptFor).toBeUndefined();
  expect(notes).toEqual(['No history of a StatefulSet is kept: rollkeeper.dev/history is for Deployments.']);
});
