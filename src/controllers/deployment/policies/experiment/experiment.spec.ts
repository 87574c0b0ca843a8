import { describe, expect, it } from 'vitest';
import { ReplicaSet } from '../../../../machinery/kubernetes/index.js';
import { MINUTE_MS, PolicyLab, imageOf } from '../../../../testing/policy-lab.js';
import { refusal } from '../../../../testing/rollout-world.js';
import { readExperimentNotes } from './experiment-notes.js';
import { parseSteps, renderStep } from '../steps/steps.js';

const STEPS = 'experiment 10m: baseline 2, canary 3; 50%; 100%';
const rolledOut = (steps = STEPS) => PolicyLab.rolledOut({ steps }, { replicas: 4 });
const setsOf = (lab: PolicyLab) =>
  Object.fromEntries(lab.world.experimentSets.map((set) => [imageOf(set), set.spec.replicas]));

async function running(steps = STEPS): Promise<PolicyLab> {
  const lab = await rolledOut(steps);
  await lab.image('app:2');
  lab.world.startExperiments();
  await lab.pass(2000);
  return lab;
}

describe('an experiment', () => {
  it('runs pods of both versions beside those that the Deployment counts, and ends after its time', async () => {
    const lab = await rolledOut();
    await lab.image('app:2');
    expect(setsOf(lab)).toEqual({ 'app:1': 2, 'app:2': 3 });
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.deployment.status).toMatchObject({ replicas: 4, availableReplicas: 4 });
    expect(lab.condition()).toContain(
      'Step 1 of 3 (experiment 10m: baseline 2, canary 3): waits for the pods of its experiment (available: baseline 0 of 2, canary 0 of 3)',
    );
    lab.world.startExperiments();
    await lab.pass(2000);
    expect(lab.condition()).toMatch(/runs an experiment until 2026-01-01T12:1/);
    await lab.pass(10 * MINUTE_MS - 2000);
    expect(setsOf(lab)).toEqual({ 'app:1': 2, 'app:2': 3 });
    await lab.pass(2001);
    expect(setsOf(lab)).toEqual({});
    expect(lab.sizes).toMatchObject({ 'app:2': 4 });
    expect(lab.eventsOf('ExperimentStarted', 'ExperimentEnded')).toHaveLength(2);
  });

  it('says in whole sentences which ReplicaSets it has made and removed, with the number of their pods', async () => {
    const lab = await running('experiment 10m: baseline 1, canary 3; 100%');
    await lab.annotate('abort', 'anna');
    const events = lab.eventsOf('ExperimentStarted', 'ExperimentEnded');
    expect(events.map((text) => text.replaceAll(/-[0-9a-f]{10}/g, ''))).toEqual([
      'Normal ExperimentStarted Made ReplicaSet web-experiment-baseline with 1 pod and ReplicaSet web-experiment-canary with 3 pods for an experiment',
      'Normal ExperimentEnded Removed ReplicaSet web-experiment-baseline with 1 pod and ReplicaSet web-experiment-canary with 3 pods of an experiment',
    ]);
  });

  it('has ReplicaSets that the Deployment owns and does not control, and that no Service of it selects', async () => {
    const lab = await running();
    for (const set of lab.world.experimentSets) {
      const { labels, name, ownerReferences } = set.metadata;
      expect(name).toMatch(/^web-experiment-(baseline|canary)-[0-9a-f]{10}$/);
      expect(ownerReferences).toEqual([
        expect.objectContaining({ kind: 'Deployment', name: 'web', blockOwnerDeletion: true }),
      ]);
      expect(ownerReferences?.[0]).not.toHaveProperty('controller');
      expect(labels).toMatchObject({ 'rollkeeper.dev/experiment-of': 'web' });
      expect(labels).not.toHaveProperty('app');
      expect(set.spec.template?.metadata?.labels).not.toHaveProperty('app');
      expect(set.spec.template?.metadata?.labels).toMatchObject(set.spec.selector.matchLabels ?? {});
    }
  });

  it('has pods with the labels of the Deployment where it serves, under a hash of their own', async () => {
    const lab = await running('experiment 10m: canary 1, serving; 100%');
    const [set] = lab.world.experimentSets;
    expect(set?.spec.template?.metadata?.labels).toMatchObject({ app: 'web' });
    expect(set?.spec.template?.metadata?.labels?.['pod-template-hash']).toMatch(/^x[0-9a-f]{10}$/);
    expect(set?.metadata.labels).not.toHaveProperty('app');
    expect(lab.deployment.status).toMatchObject({ replicas: 4 });
  });

  it('is no ReplicaSet that the Deployment controls, whatever labels a user gives it', async () => {
    const lab = await rolledOut();
    const set = lab.replicaSet('app:1');
    const labels = { ...set.metadata.labels, 'rollkeeper.dev/experiment': 'x' };
    lab.world.api.seed(ReplicaSet, { ...set, metadata: { ...set.metadata, labels } });
    await lab.world.sync();
    expect(lab.world.api.all<ReplicaSet>(ReplicaSet).map(({ spec }) => spec.replicas)).toEqual([4]);
  });

  describe('in the history of its revision', () => {
    const notesOf = (lab: PolicyLab) => readExperimentNotes(lab.replicaSet('app:2').metadata.annotations);

    it('has its pods, its time and its verdict', async () => {
      const lab = await running();
      expect(notesOf(lab)).toEqual([
        {
          ...{ revision: '2', step: 1, checks: [], pods: { baseline: 2, canary: 3 } },
          at: expect.any(String),
          began: expect.any(String),
        },
      ]);
      await lab.pass(10 * MINUTE_MS);
      const [note] = notesOf(lab);
      expect(note?.verdict).toBe('passed');
      expect(Date.parse(note?.ended ?? '') - Date.parse(note?.began ?? '')).toBe(10 * MINUTE_MS);
    });

    it.each([
      ['stopped', 'the rollout is aborted', (lab: PolicyLab) => lab.annotate('abort', 'anna')],
      ['stopped', 'another version comes', (lab: PolicyLab) => lab.image('app:1')],
      ['stopped', 'the steps are removed', (lab: PolicyLab) => lab.annotate('steps', undefined)],
    ])('is %s where %s', async (verdict, _what, change) => {
      const lab = await running();
      await change(lab);
      expect(notesOf(lab)).toMatchObject([{ step: 1, verdict, ended: expect.any(String) }]);
    });

    it('is failed where its pods are not available in time', async () => {
      const lab = await rolledOut();
      await lab.image('app:2');
      await lab.pass(10 * MINUTE_MS);
      expect(notesOf(lab)).toMatchObject([
        { verdict: 'failed', why: 'its pods were not available in time', ended: expect.any(String) },
      ]);
    });

    it('has no verdict while a check is open after its time, and is inconclusive if a person goes on without it', async () => {
      const lab = await running('experiment 10m: baseline 1, canary 1, check slo; 100%');
      await lab.pass(11 * MINUTE_MS);
      expect(notesOf(lab)).toMatchObject([{ ended: expect.any(String), checks: ['slo'] }]);
      expect(notesOf(lab)[0]).not.toHaveProperty('verdict');
      await lab.annotate('approve', 'anna');
      expect(notesOf(lab)).toMatchObject([
        { verdict: 'inconclusive', why: 'the rollout went on without check slo' },
      ]);
    });
  });

  it('begins its time when all of its pods are available, once', async () => {
    const lab = await running();
    const before = lab.condition();
    for (const set of lab.world.experimentSets)
      lab.world.api.seed(ReplicaSet, { ...set, status: { replicas: 0 } });
    await lab.pass(MINUTE_MS);
    expect(lab.condition()).toBe(before);
  });

  it('is removed, and lets no step be taken, if its pods are not available within ten minutes', async () => {
    const lab = await rolledOut();
    await lab.image('app:2');
    await lab.pass(10 * MINUTE_MS);
    expect(setsOf(lab)).toEqual({});
    expect(lab.condition()).toContain('were not available in time, and are removed');
    await lab.pass(60 * MINUTE_MS);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
  });

  it.each([
    ['another version comes', (lab: PolicyLab) => lab.image('app:1')],
    ['the steps are removed', (lab: PolicyLab) => lab.annotate('steps', undefined)],
    ['the rollout is aborted', (lab: PolicyLab) => lab.annotate('abort', 'anna')],
    ['an annotation cannot be understood', (lab: PolicyLab) => lab.annotate('steps', 'nonsense')],
    ['the Deployment is scaled to nothing', (lab: PolicyLab) => lab.scale(0)],
  ])('is removed when %s', async (_what, change) => {
    const lab = await running();
    await change(lab);
    expect(setsOf(lab)).toEqual({});
  });

  it('stays in a paused Deployment until its time is over, and not longer', async () => {
    const lab = await running();
    lab.world.change(({ spec }) => void (spec.paused = true));
    await lab.rest();
    expect(setsOf(lab)).toEqual({ 'app:1': 2, 'app:2': 3 });
    await lab.pass(20 * MINUTE_MS);
    expect(setsOf(lab)).toEqual({});
  });

  it('runs pods of further revisions that are kept', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 2 });
    await lab.image('app:2');
    await lab.annotate('steps', 'experiment 10m: baseline 1, canary 1, revision 1 2; 100%');
    await lab.image('app:3');
    expect(setsOf(lab)).toEqual({ 'app:1': 2, 'app:2': 1, 'app:3': 1 });
    expect(lab.sizes).toEqual({ 'app:2': 2 });
    lab.world.startExperiments();
    await lab.pass(10 * MINUTE_MS + 2000);
    await lab.rest();
    expect(setsOf(lab)).toEqual({});
    const [note] = readExperimentNotes(lab.replicaSet('app:3').metadata.annotations);
    expect(note).toMatchObject({ pods: { baseline: 1, canary: 1, 'revision-1': 2 } });
  });

  it('does not begin without a revision that it names, and says which pods are missing', async () => {
    const lab = await rolledOut('experiment 10m: canary 1, revision 77 2; 100%');
    await lab.image('app:2');
    lab.world.startExperiments();
    await lab.pass(2000);
    expect(lab.condition()).toContain('available: canary 1 of 1, revision-77 0 of 2');
    await lab.pass(10 * MINUTE_MS);
    expect(setsOf(lab)).toEqual({});
  });

  it('is made once, also by a process that follows one which died in between', async () => {
    const lab = await rolledOut();
    let writes = 0;
    lab.world.onEffect = () => {
      writes += 1;
      if (writes === 4) throw refusal(500);
    };
    await lab.image('app:2').catch(() => undefined);
    lab.world.onEffect = () => undefined;
    await lab.rest();
    expect(setsOf(lab)).toEqual({ 'app:1': 2, 'app:2': 3 });
    expect(lab.world.experimentSets).toHaveLength(2);
  });

  it.each([
    'experiment 10m: baseline 2, canary 2, check compare-latency',
    'experiment 1h30m: canary 1, serving',
    'experiment 10s: canary 50, check a, check b',
    'experiment 10m: baseline 1, canary 1, revision 7 2, revision 3 1, check a',
  ])('is written as it is read: %s', (text) => {
    const parsed = parseSteps(text);
    expect('steps' in parsed && parsed.steps.map(renderStep)).toEqual([text]);
  });

  it.each([
    ...[
      'experiment',
      'experiment 10m',
      'experiment 10m:',
      'experiment 10m: baseline 2',
      'experiment 0s: canary 1',
    ],
    ...['experiment 10m: canary 0', 'experiment 10m: canary 51', 'experiment 10m: canary 1, canary 2'],
    ...[
      'experiment 10m: canary 1, check a, check a',
      'experiment 10m: canary 1, other 2',
      'experiment x: canary 1',
      'experiment 10m: canary 1, revision 7',
      'experiment 10m: canary 1, revision 0 1',
      'experiment 10m: canary 1, revision 7 1, revision 7 2',
      'experiment 10m: revision 7 1',
      'experiment 10m: canary 1, revision 7 51',
      'experiment 10m: canary 1, revision seven 1',
    ],
  ])('is not %s', (text) => {
    expect(parseSteps(text)).toHaveProperty('problem');
  });
});
