import { describe, expect, it } from 'vitest';
import type { ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { newControllerRef } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { pastExperiments, renderPastExperiments } from './experiment-history.js';
import { renderRevisions } from './render-history.js';
import { rolloutHistory } from './rollout-history.js';
import { decideTimeline } from './timeline.js';

const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
const run = (check: string, step?: number) => ({
  ...{
    check,
    step,
    attempt: 1,
    began: at(2),
    state: step === undefined ? 'measuring' : 'passed',
    next: at(3),
  },
  ...{ taken: 5, recent: 'p', unknown: 0, measurements: [{ at: at(3), verdict: 'passed', value: 0.12 }] },
});

function aSet(name: string, annotations: Record<string, string>, isOwn = true): ReplicaSet {
  const { selector, template } = aDeployment({ image: 'app:1' }).spec;
  const ownerReferences = isOwn ? [newControllerRef(aDeployment())] : [];
  return {
    ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet' },
    metadata: { name, namespace: 'default', annotations, ownerReferences, creationTimestamp: at(0) },
    spec: { replicas: 0, selector, template },
  };
}

const NOTE = {
  ...{ revision: '2', step: 1, at: at(1), began: at(2), ended: at(12), verdict: 'passed' },
  ...{ pods: { baseline: 2, canary: 2 }, checks: ['latency'] },
};
const ofStep = aSet('web-2', {
  'deployment.kubernetes.io/revision': '2',
  'rollkeeper.dev/experiments': JSON.stringify([NOTE]),
  'rollkeeper.dev/check-results': JSON.stringify({ revision: '2', runs: [run('latency', 1)] }),
});
const PLAN = {
  ...{ name: 'sizes', durationMs: 600_000, startWithinMs: 600_000, keepMs: 0 },
  templates: [
    { name: 'old', replicaSet: 'sizes-x-old', hash: 'x1', replicas: 2, deployment: 'web', revision: '2' },
    { name: 'own', replicaSet: 'sizes-x-own', hash: 'x2', replicas: 1 },
  ],
  checks: [{ name: 'errors', of: 'own', against: 'old', definition: '{}' }],
};
const outside = aSet(
  'sizes-x',
  {
    'deployment.kubernetes.io/revision': '1',
    'rollkeeper.dev/experiment-plan': JSON.stringify(PLAN),
    'rollkeeper.dev/experiment-state': JSON.stringify({
      ...{ began: at(20), until: at(30), ended: at(25), verdict: 'failed', why: 'check errors failed' },
    }),
    'rollkeeper.dev/check-results': JSON.stringify({ revision: '1', runs: [run('errors')] }),
  },
  false,
);
outside.metadata.labels = { 'rollkeeper.dev/experiment': 'sizes-x' };
outside.metadata.creationTimestamp = at(19);

describe('the experiments in the history of a Deployment', () => {
  const deployment = aDeployment({ image: 'app:1' });
  const all = [ofStep, outside];

  it('are a table of verdicts, pods, numbers and times, of steps and outside of rollouts', () => {
    expect(renderPastExperiments(pastExperiments(deployment, all))).toBe(
      [
        'EXPERIMENT  REVISION  STARTED               VERDICT  TOOK  PODS                  CHECKS                 WHY',
        'step 1      2         2026-01-01T00:01:00Z  passed   10m   baseline 2, canary 2  latency passed (0.12)  <none>',
        'sizes-x     2         2026-01-01T00:19:00Z  failed   5m    old 2, own 1          errors passed (0.12)   check errors failed',
      ].join('\n'),
    );
  });

  it('follow the revisions, and are a part of each revision that took part', () => {
    const history = rolloutHistory(deployment, all, 'verified');
    expect(history.map(({ experiments }) => experiments.map(({ experiment }) => experiment))).toEqual([
      ['step 1', 'sizes-x'],
    ]);
    expect(renderRevisions(history, false, pastExperiments(deployment, all))).toMatch(/\n\nEXPERIMENT /);
    expect(renderRevisions(history)).not.toContain('EXPERIMENT');
  });

  it('are in the timeline, once each, when they have ended', () => {
    const history = rolloutHistory(deployment, all, 'verified');
    const entries = decideTimeline({ deployment, history, events: [] }).filter(
      ({ kind }) => kind === 'experiment',
    );
    expect(entries.map(({ what }) => what)).toEqual([
      'the experiment of step 1 has passed: baseline 2, canary 2; check latency passed (0.12) after 10m',
      'the experiment of sizes-x has failed: old 2, own 1; check errors passed (0.12) after 5m, because check errors failed',
    ]);
  });

  it('are under way until their end, and of no Deployment that took no part', () => {
    const running = { ...NOTE, ended: undefined, verdict: undefined };
    const set = aSet('web-2', { 'rollkeeper.dev/experiments': JSON.stringify([running]) });
    expect(pastExperiments(deployment, [set])).toMatchObject([{ verdict: 'under way' }]);
    expect(
      pastExperiments({ ...deployment, metadata: { name: 'other', namespace: 'default' } }, [outside]),
    ).toEqual([]);
  });
});
