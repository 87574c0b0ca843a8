import { describe, expect, it } from 'vitest';
import type { Deployment, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { newControllerRef } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { renderRevision, renderRevisions } from './render-history.js';
import { rolloutHistory } from './rollout-history.js';

const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;

function aSet(name: string, image: string, annotations: Record<string, string>): ReplicaSet {
  const { selector, template } = aDeployment({ image }).spec;
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      ...{ name, namespace: 'default', annotations, creationTimestamp: at(0) },
      ownerReferences: [newControllerRef(aDeployment())],
    },
    spec: { replicas: image === 'app:1' ? 3 : 0, selector, template },
  };
}

/** app:1 came back as revision 3 after app:2 failed. */
function rolledBack(): { deployment: Deployment; replicaSets: ReplicaSet[] } {
  const first = { revision: '1', at: at(1), trigger: 'change', ended: { as: 'complete', at: at(2) } };
  const back = {
    ...{ revision: '3', at: at(6), trigger: 'rollback', by: 'rollkeeper', why: 'its pods crashed' },
    ended: { as: 'complete', at: at(7) },
  };
  const failed = {
    ...{ revision: '2', at: at(4), trigger: 'change', by: 'release', user: 'anna', tool: 'kubectl-set' },
    ...{
      what: 'container app: image app:1 → app:2',
      ended: { as: 'failed', at: at(5), why: 'its pods crashed' },
    },
  };
  const step = { revision: '2', done: 1, since: at(4), approvals: [{ step: 1, by: 'ben', at: at(4) }] };
  return {
    deployment: aDeployment({ image: 'app:1' }),
    replicaSets: [
      aSet('web-1', 'app:1', {
        'deployment.kubernetes.io/revision': '3',
        'rollkeeper.dev/revisions': JSON.stringify([back, first]),
        'rollkeeper.dev/good-since': at(8),
      }),
      aSet('web-2', 'app:2', {
        'deployment.kubernetes.io/revision': '2',
        'rollkeeper.dev/revisions': JSON.stringify([failed]),
        'rollkeeper.dev/step': JSON.stringify(step),
      }),
    ],
  };
}

describe('the history of a Deployment', () => {
  const { deployment, replicaSets } = rolledBack();
  const history = rolloutHistory(deployment, replicaSets, 'verified');

  it('has a line for each rollout, also for those of a template that has another number now', () => {
    expect(renderRevisions(history)).toBe(
      [
        'REVISION   STARTED               BY              TRIGGER   RESULT    TOOK  CHANGE-CAUSE',
        '1 (now 3)  2026-01-01T00:01:00Z  <none>          change    complete  1m    <none>',
        '2          2026-01-01T00:04:00Z  release (anna)  change    failed    1m    <none>',
        '3 *        2026-01-01T00:06:00Z  rollkeeper      rollback  good      1m    its pods crashed',
      ].join('\n'),
    );
  });

  it('names the authenticated user beside a name that the one who asked has given', () => {
    const failed = history.find(({ revision }) => revision === 2)!;
    const text = renderRevision(failed);
    expect(text).toContain('By:         release (anna)');
    expect(text).toContain('With:       kubectl-set');
    expect(text).toContain('Changed:    container app: image app:1 → app:2');
    expect(text).toContain('Result:     failed: its pods crashed');
    expect(text).toContain('Approved:   step 1 at 2026-01-01T00:04:00Z: ben');
  });

  it('marks every name as claimed where the API server does not vouch for names, but not what it did itself', () => {
    const claimed = rolloutHistory(deployment, replicaSets, 'claimed');
    expect(claimed.map(({ who }) => who)).toEqual([undefined, 'claimed by release (anna)', 'rollkeeper']);
    const text = renderRevision(claimed.find(({ revision }) => revision === 2)!);
    expect(text).toContain('By:         claimed by release (anna)');
    expect(text).toContain('User:       claimed by anna');
    expect(text).toContain('Approved:   step 1 at 2026-01-01T00:04:00Z: claimed by ben');
  });

  it('marks a name that a request gives as claimed where no user is known beside it', () => {
    const entry = { revision: '1', at: at(1), trigger: 'restart', by: 'alice' };
    const own = {
      'deployment.kubernetes.io/revision': '1',
      'rollkeeper.dev/revisions': JSON.stringify([entry]),
    };
    const [report] = rolloutHistory(deployment, [aSet('web-1', 'app:1', own)], 'verified');
    expect(report).toMatchObject({ who: 'claimed by alice', by: 'claimed by alice' });
  });

  it('does not count what belongs to another Deployment', () => {
    const other = { ...deployment, metadata: { ...deployment.metadata, uid: 'another' } };
    expect(rolloutHistory(other, replicaSets, 'verified')).toEqual([]);
  });
});
