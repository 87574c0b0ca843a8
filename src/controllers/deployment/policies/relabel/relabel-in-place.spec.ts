import { describe, expect, it } from 'vitest';
import type { ReplicaSet } from '../../../../machinery/kubernetes/index.js';
import { isTerminating } from '../../../../machinery/kubernetes/index.js';
import { aDeployment, setImage } from '../../../../testing/deployment-builder.js';
import { PolicyLab } from '../../../../testing/policy-lab.js';

const RELABEL = { relabel: 'in-place' };
const REVISION = 'deployment.kubernetes.io/revision';

type Values = Record<string, string>;

/** A user changes labels and annotations of the template; undefined takes one away. */
async function relabel(
  lab: PolicyLab,
  labels: Record<string, string | undefined>,
  annotations: Record<string, string | undefined> = {},
): Promise<void> {
  const given = (before: Values | undefined, changes: Record<string, string | undefined>): Values =>
    JSON.parse(JSON.stringify({ ...before, ...changes })) as Values;
  lab.world.change(({ spec }) => {
    const metadata = spec.template.metadata ?? {};
    spec.template.metadata = {
      labels: given(metadata.labels, labels),
      annotations: given(metadata.annotations, annotations),
    };
  });
  await lab.rest();
}

function pods(lab: PolicyLab) {
  return lab.world.allPods.filter((pod) => !isTerminating(pod));
}

function uids(lab: PolicyLab): unknown[] {
  return pods(lab).map(({ metadata }) => metadata.uid);
}

function serving(lab: PolicyLab): ReplicaSet | undefined {
  return lab.world.replicaSets.find(({ spec }) => spec.replicas !== 0);
}

describe('relabel: in-place', () => {
  it('changes labels and annotations of pods that run, none of which restarts', async () => {
    const lab = await PolicyLab.rolledOut(RELABEL, { replicas: 3 });
    const [before, set] = [uids(lab), serving(lab)];
    await relabel(lab, { team: 'shop' }, { 'prometheus.io/scrape': 'true' });
    expect(uids(lab)).toEqual(before);
    expect(serving(lab)?.metadata.name).toBe(set?.metadata.name);
    for (const { metadata } of pods(lab)) {
      expect(metadata.labels).toMatchObject({ app: 'web', team: 'shop' });
      expect(metadata.annotations).toEqual({ 'prometheus.io/scrape': 'true' });
    }
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
    expect(lab.deployment.status).toMatchObject({ updatedReplicas: 3, availableReplicas: 3 });
    expect(lab.eventsOf('RelabeledInPlace')).toEqual([
      expect.stringMatching(/ Changing team, prometheus.io\/scrape of 3 pods of web-\w+ in place$/),
    ]);
  });

  it('gives pods that start later the same', async () => {
    const lab = await PolicyLab.rolledOut(RELABEL, { replicas: 2 });
    await relabel(lab, { team: 'shop' });
    await lab.scale(4);
    expect(pods(lab).map(({ metadata }) => metadata.labels?.['team'])).toEqual(Array(4).fill('shop'));
  });

  it('takes a label away that the template no longer has', async () => {
    const lab = await PolicyLab.rolledOut(RELABEL, { replicas: 2 });
    await relabel(lab, { team: 'shop', tier: 'web' });
    const before = uids(lab);
    await relabel(lab, { team: undefined, tier: 'api' });
    expect(uids(lab)).toEqual(before);
    for (const { metadata } of pods(lab)) {
      expect(metadata.labels).toMatchObject({ tier: 'api' });
      expect(metadata.labels).not.toHaveProperty('team');
    }
  });

  it('is a revision, which an undo takes back in place', async () => {
    const lab = await PolicyLab.rolledOut(RELABEL, { replicas: 3 });
    const before = uids(lab);
    await relabel(lab, { team: 'shop' });
    expect(serving(lab)?.metadata.annotations?.[REVISION]).toBe('2');
    const kept = lab.world.replicaSets.find(({ metadata }) => metadata.annotations?.[REVISION] === '1');
    const template = structuredClone(kept?.spec.template ?? {});
    delete template.metadata?.labels?.['pod-template-hash'];
    lab.world.change(({ spec }) => void (spec.template = template));
    await lab.rest();
    expect(uids(lab)).toEqual(before);
    expect(serving(lab)?.metadata.annotations?.[REVISION]).toBe('3');
    for (const { metadata } of pods(lab)) expect(metadata.labels).not.toHaveProperty('team');
  });

  it('replaces the pods if anything else has changed', async () => {
    const lab = await PolicyLab.rolledOut(RELABEL, { replicas: 2 });
    const before = new Set(uids(lab));
    lab.world.change((deployment) => {
      setImage(deployment, 'app:2');
      deployment.spec.template.metadata = { labels: { app: 'web', team: 'shop' } };
    });
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:2': 2 });
    expect(uids(lab).filter((uid) => before.has(uid))).toEqual([]);
  });

  it.each([
    'kubectl.kubernetes.io/restartedAt',
    'rollkeeper.dev/config-digest',
    'rollkeeper.dev/pinned-config',
  ])('restarts the pods where %s asks for it', async (annotation) => {
    const lab = await PolicyLab.rolledOut(RELABEL, { replicas: 2 });
    const before = new Set(uids(lab));
    await relabel(lab, {}, { [annotation]: '2026-01-01T12:00:00Z' });
    if (annotation === 'rollkeeper.dev/pinned-config') return;
    expect(uids(lab).filter((uid) => before.has(uid))).toEqual([]);
  });

  it('replaces the pods, and says why, in the middle of a rollout', async () => {
    const lab = await PolicyLab.rolledOut({ ...RELABEL, steps: '1; approve' }, { replicas: 3 });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 2, 'app:2': 1 });
    await relabel(lab, { team: 'shop' });
    expect(lab.eventsOf('RelabelRefused')).toEqual([
      expect.stringContaining('cannot be relabeled in place: a rollout is under way'),
    ]);
  });

  it('replaces the pods, and says why, if the selector looks at the label', async () => {
    const matchExpressions = [{ key: 'tier', operator: 'In' as const, values: ['a', 'b'] }];
    const { spec } = aDeployment({ replicas: 2 });
    const selector = { ...spec.selector, matchExpressions };
    const template = { ...spec.template, metadata: { labels: { app: 'web', tier: 'a' } } };
    const lab = await PolicyLab.rolledOut(RELABEL, { spec: { ...spec, selector, template } });
    const before = new Set(uids(lab));
    await relabel(lab, { tier: 'b' });
    expect(lab.eventsOf('RelabelRefused').at(-1)).toContain('the selector looks at the label tier');
    expect(uids(lab).filter((uid) => before.has(uid))).toEqual([]);
  });

  it('waits for the window, as any version does', async () => {
    const lab = await PolicyLab.rolledOut({ ...RELABEL, freeze: 'for now' }, { replicas: 2 });
    await relabel(lab, { team: 'shop' });
    expect(lab.condition()).toMatch(/^Unknown RolloutHeld/);
    expect(pods(lab).some(({ metadata }) => metadata.labels?.['team'] !== undefined)).toBe(false);
  });

  it('goes together with labels of the version', async () => {
    const lab = await PolicyLab.rolledOut({ ...RELABEL, 'stable-labels': 'role=stable' }, { replicas: 2 });
    const before = uids(lab);
    await relabel(lab, { team: 'shop' });
    await relabel(lab, { team: 'sales' });
    expect(uids(lab)).toEqual(before);
    for (const { metadata } of pods(lab))
      expect(metadata.labels).toMatchObject({ role: 'stable', team: 'sales' });
  });

  it('replaces the pods without the policy', async () => {
    const lab = await PolicyLab.rolledOut({}, { replicas: 2 });
    const before = new Set(uids(lab));
    await relabel(lab, { team: 'shop' });
    expect(uids(lab).filter((uid) => before.has(uid))).toEqual([]);
  });

  it('is the only mode', async () => {
    const lab = await PolicyLab.rolledOut({ relabel: 'yes' }, { replicas: 1 });
    expect(lab.condition('RolloutPolicy')).toContain('is not in-place');
  });
});
