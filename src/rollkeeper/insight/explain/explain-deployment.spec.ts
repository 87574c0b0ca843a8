import { describe, expect, it } from 'vitest';
import { NOW_MS, ready, waiting, progressing, stuckOn, done } from './stuck-rollout.fixture.js';
import { explainDeployment } from './explain-deployment.js';
import { renderExplanation } from './render-explanation.js';

describe('why a rollout is where it is', () => {
  it('says how a parked ReplicaSet is brought back, and only notes an old one', () => {
    const parked = { error: 'exceeded quota', retries: 15, parkedAtMs: NOW_MS };
    const { unblockedBy, waitsFor } = explainDeployment({
      ...stuckOn(ready()),
      replicaSetQueues: new Map([
        ['web-new', { parked }],
        ['web-old', { parked }],
      ]),
    });
    const command = 'rollkeeper queue unpark replicaset default/web-';
    expect(unblockedBy).toContainEqual(expect.stringContaining(`${command}new`));
    expect(unblockedBy).not.toContainEqual(expect.stringContaining(`${command}old`));
    expect(waitsFor.filter(({ cause }) => cause === 'parked').map(({ severity }) => severity)).toEqual([
      'blocked',
      'note',
    ]);
  });

  it.each([
    { apiVersion: 'apps/v1', typed: 'kubectl rollout undo', image: 'kubectl set image' },
    { apiVersion: 'rollkeeper.dev/v1', typed: 'rollkeeper rollout undo', image: 'kubectl patch' },
  ])('advises commands that a Deployment of $apiVersion has', ({ apiVersion, image, typed }) => {
    const input = stuckOn(waiting('ImagePullBackOff'));
    const { unblockedBy } = explainDeployment({ ...input, deployment: { ...input.deployment, apiVersion } });
    expect(unblockedBy).toContain(`or roll back with ${typed}`);
    expect(unblockedBy).toContainEqual(expect.stringContaining(`correct the image (${image})`));
  });

  it('does the sums behind each size', () => {
    const { limits, replicaSets } = explainDeployment(stuckOn(waiting('ImagePullBackOff')));
    expect(limits).toMatchObject({ floor: 4, ceiling: 5, maxSurge: 1, maxUnavailable: 0 });
    expect(replicaSets).toMatchObject([
      {
        name: 'web-new',
        role: 'new',
        revision: 2,
        size: 1,
        nextSize: 1,
        because: ['ceiling: 4 + maxSurge 1 = 5', 'room to grow: 5 - 5 requested in total = 0'],
      },
      {
        name: 'web-old',
        role: 'old',
        revision: 1,
        because: [
          'floor: 4 - maxUnavailable 0 = 4 available',
          'room to shrink: 5 requested in total - floor 4 - 1 new ones not available = 0',
        ],
      },
    ]);
  });

  it('tells a revision to the last digit', () => {
    const input = stuckOn({ phase: 'Pending' });
    const replicaSets = input.replicaSets.map((set) => ({
      ...set,
      metadata: {
        ...set.metadata,
        annotations: { 'deployment.kubernetes.io/revision': '3546343826724305833' },
      },
    }));
    const explanation = explainDeployment({ ...input, replicaSets });
    expect(explanation.replicaSets[0]?.revision).toBe(3546343826724305833n);
    expect(renderExplanation(explanation)).toContain('revision 3546343826724305833');
  });

  it('says of a write that met a newer object that it was tried again, and not that it failed', () => {
    const of = { controller: 'deployment', key: 'default/web', replica: 'r0', actions: ['scaled up'] };
    const decisions = [
      { ...of, atMs: 2000, setback: 'another write came first; tried again' },
      { ...of, atMs: 1000, error: 'quota' },
    ];
    const text = renderExplanation(explainDeployment({ ...stuckOn({ phase: 'Pending' }), decisions }));
    expect(text).toContain('r0: scaled up; another write came first; tried again');
    expect(text).toContain('r0: scaled up; failed: quota');
  });

  it('says when the deadline passes', () => {
    const explanation = explainDeployment(stuckOn({ phase: 'Pending' }));
    expect(explanation.deadline).toEqual({ seconds: 600, exceeded: false, remainingSeconds: 500 });
    expect(renderExplanation(explanation)).toContain('the deadline of 600 s passes in 500 s');
  });

  it('once it has passed, says why with the words that the condition has', () => {
    const exceeded = { conditions: [progressing('ProgressDeadlineExceeded')] };
    const { waitsFor } = explainDeployment(stuckOn(waiting('ImagePullBackOff', 'no such image'), exceeded));
    const { summary } = waitsFor.find(({ cause }) => cause === 'deadline-exceeded') ?? {};
    expect(summary).toContain('600 (1 of 1 new pods: ImagePullBackOff (no such image)): the rollout is');
  });

  it('a deadline that passed before the rollout ended does not make it stuck', () => {
    const input = done({ conditions: [progressing('ProgressDeadlineExceeded')] });
    expect(explainDeployment(input).state).toBe('complete');
  });

  it('changes none of what it is given', () => {
    const input = stuckOn(waiting('CrashLoopBackOff'));
    const before = structuredClone(input);
    explainDeployment(input);
    expect(input).toEqual(before);
  });
});

it('a key that a quota has parked comes back with the quota, without a requeue', () => {
  const error = 'replicasets.apps "web-1" is forbidden: exceeded quota: q';
  const queue = { parked: { error, retries: 15, parkedAtMs: NOW_MS - 5000 } };
  const { waitsFor } = explainDeployment({ ...stuckOn(ready()), queue });
  const parked = waitsFor.find(({ cause }) => cause === 'parked');
  expect(parked?.unblockedBy).toEqual([
    'raise the ResourceQuota, or reduce the usage: the key is then retried by itself',
  ]);
});
