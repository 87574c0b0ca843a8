import { describe, expect, it } from 'vitest';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { P, PolicyLab } from '../../../testing/policy-lab.js';
import { BROKEN_IMAGE } from '../../../testing/rollout-world.js';
import { createDeploymentController } from '../definition.js';
import { readSizeSteps } from '../policies/history/size-steps.js';
import type { NewEntries, RecordedView } from './decide-entries.js';
import { decideEntries } from './decide-entries.js';
import type { RecordState } from './deployment-record.js';
import { EMPTY_RECORD } from './deployment-record.js';
import { lastWriterOfSize, meansOf, meansOfRevision } from './means.js';
import { wordsOf } from './words.js';

const NOTHING = EMPTY_RECORD.state;

function viewOf(lab: PolicyLab, more: Partial<RecordedView> = {}): RecordedView {
  const { deployment, replicaSets } = lab.world;
  return { deployment, replicaSets, now: toRfc3339(lab.clock.now()), names: 'verified', ...more };
}

function look(lab: PolicyLab, state: RecordState, more: Partial<RecordedView> = {}): NewEntries {
  return decideEntries(state, viewOf(lab, more));
}

const kindsOf = ({ entries }: NewEntries) =>
  entries.map(({ kind, revision = '' }) => `${kind} ${revision}`.trim());

describe('the record of a Deployment whose history lasts', () => {
  it('is what was asked, each new size with the sums of its decision, and how it ended', async () => {
    const lab = await PolicyLab.rolledOut({ history: '14d', 'changed-by': 'anna' });
    const before = look(lab, NOTHING).state;
    await lab.image('app:2');
    const { entries } = look(lab, before);
    expect(entries[0]).toMatchObject({ kind: 'asked', revision: '2', by: 'anna' });
    const ended = entries.findIndex(({ kind }) => kind === 'ended');
    expect(entries[ended]).toMatchObject({ revision: '2', result: 'complete' });
    expect(entries.findLastIndex(({ kind }) => kind === 'sized')).toBeLessThan(ended);
    const steps = entries.filter(({ kind }) => kind === 'sized');
    expect(steps.length).toBeGreaterThan(1);
    for (const { sums } of steps)
      expect(sums).toMatch(/^\d+ of at most \d+ pods; \d+ available of at least \d+/);
    // The sizes of each ReplicaSet follow each other without a gap.
    for (const { metadata, spec } of lab.world.replicaSets) {
      const sizes = steps.flatMap(({ replicaSet, sizes: each }) =>
        replicaSet === metadata.name && each && 'from' in each ? [each] : [],
      );
      for (const [index, { from }] of sizes.entries()) if (index > 0) expect(from).toBe(sizes[index - 1]?.to);
      expect(sizes.at(-1)?.to).toBe(spec.replicas);
    }
  });

  it('is recorded once: a second look at the same finds nothing, and one after a crash finds the rest', async () => {
    const lab = await PolicyLab.rolledOut({ history: '14d' });
    const first = look(lab, NOTHING);
    expect(look(lab, first.state)).toEqual({ entries: [], state: first.state });
    await lab.image('app:2');
    await lab.scale(7);
    // The process that should have looked in between was killed.
    const late = look(lab, first.state);
    expect(kindsOf(late)).toEqual(expect.arrayContaining(['asked 2', 'ended 2', 'scaled']));
    expect(look(lab, late.state).entries).toEqual([]);
  });

  it('is not recorded twice by a cache that is behind, nor lost when it has caught up', async () => {
    const lab = await PolicyLab.rolledOut({ history: '14d' });
    const behind = structuredClone<RecordedView>(viewOf(lab));
    const before = look(lab, NOTHING).state;
    await lab.image('app:2');
    await lab.scale(7);
    const { state } = look(lab, before);
    const stale = decideEntries(state, behind);
    expect(stale.entries).toEqual([]);
    expect(look(lab, stale.state).entries).toEqual([]);
  });

  it('says by which means a size was asked for', async () => {
    const lab = await PolicyLab.rolledOut({ history: '14d' });
    const { state } = look(lab, NOTHING);
    await lab.scale(5);
    const sizeWriter = {
      manager: 'kube-controller-manager',
      subresource: 'scale',
      time: '2026-01-02T00:00:00Z',
    };
    const scaled = look(lab, state, { sizeWriter }).entries.find(({ kind }) => kind === 'scaled');
    expect(scaled).toMatchObject({
      at: sizeWriter.time,
      means: 'autoscaler',
      with: 'kube-controller-manager',
    });
    expect(wordsOf(scaled!)).toMatch(/^scaled \d+ → 5$/);
  });

  it('says who asked for a size where the API names that user, and never by the name of an earlier change', async () => {
    const lab = await PolicyLab.rolledOut({ history: '14d' });
    const { state } = look(lab, NOTHING);
    await lab.scale(5);
    const { generation = 0 } = lab.deployment.metadata;
    const scaledWith = (noted: unknown, more: Partial<RecordedView> = {}) => {
      const view = structuredClone<RecordedView>({ ...viewOf(lab), ...more });
      Object.assign(view.deployment.metadata, {
        annotations: {
          ...view.deployment.metadata.annotations,
          'rollkeeper.dev/scaled-by': typeof noted === 'string' ? noted : JSON.stringify(noted),
        },
      });
      return decideEntries(state, view).entries.find(({ kind }) => kind === 'scaled');
    };
    const named = { by: 'anna', to: 5, generation };
    expect(scaledWith(named)).toMatchObject({ by: 'anna', sizes: { to: 5 } });
    expect(scaledWith(named, { names: 'claimed' })).toMatchObject({ by: 'claimed by anna' });
    for (const stale of [
      { ...named, to: 4 },
      { ...named, generation: state.generation },
      { ...named, generation: String(generation) },
      { ...named, by: 7 },
      'anna',
      '',
    ])
      expect(scaledWith(stale)).not.toHaveProperty('by');
    // The name of an autoscaler says more than the account that this works as.
    const sizeWriter = { manager: 'kube-controller-manager', subresource: 'scale' };
    expect(scaledWith(named, { sizeWriter })).toMatchObject({ means: 'autoscaler' });
    expect(scaledWith(named, { sizeWriter })).not.toHaveProperty('by');
  });

  it('names a rollback of its own and its cause', async () => {
    const lab = await PolicyLab.rolledOut({
      ...{ history: '14d', 'on-failure': 'rollback', 'fail-after': '30s' },
    });
    const before = look(lab, NOTHING).state;
    await lab.image(BROKEN_IMAGE);
    await lab.pass(60_000);
    const { entries } = look(lab, before);
    expect(entries.find(({ kind }) => kind === 'failed')).toMatchObject({ revision: '2', result: 'failed' });
    const back = entries.find(({ means }) => means === 'rollback');
    expect(back).toMatchObject({ kind: 'asked', revision: '3', by: 'rollkeeper' });
    expect(back?.why).not.toBe('');
  });

  it('has pauses and their ends', async () => {
    const lab = await PolicyLab.rolledOut({ history: '14d' });
    const { state } = look(lab, NOTHING);
    lab.world.change(({ spec }) => void (spec.paused = true));
    await lab.rest();
    const paused = look(lab, state);
    expect(kindsOf(paused)).toEqual(['paused']);
    lab.world.change(({ spec }) => void (spec.paused = false));
    await lab.rest();
    expect(kindsOf(look(lab, paused.state))).toEqual(['resumed']);
  });
});

describe('the sizes that a ReplicaSet carries for the record', () => {
  it('are the last eight, counted through', async () => {
    const lab = await PolicyLab.rolledOut({ history: '14d' });
    for (let size = 4; size < 16; size++) await lab.scale(size);
    const steps = readSizeSteps(lab.replicaSet('app:1').metadata.annotations);
    expect(steps).toHaveLength(8);
    expect(steps.map(({ n }) => n)).toEqual(Array.from({ length: 8 }, (_, index) => steps[0]!.n - index));
    expect(steps[0]).toMatchObject({ to: 15 });
  });

  it('cost no write more, and are not there without a history that lasts', async () => {
    const plain = await PolicyLab.rolledOut({ history: 'on' });
    const lasting = await PolicyLab.rolledOut({ history: '14d' });
    for (const lab of [plain, lasting]) await lab.image('app:2');
    expect(lasting.world.api.changes).toBe(plain.world.api.changes);
    for (const { metadata } of plain.world.replicaSets)
      expect(metadata.annotations).not.toHaveProperty(`${P}sizes`);
    expect(lasting.deployment.metadata.annotations).not.toHaveProperty(`${P}sizes`);
  });

  it('are no steps where another hand wrote them', () => {
    expect(readSizeSteps({ [`${P}sizes`]: '[{"n":1},null,"x"]' })).toEqual([]);
    expect(readSizeSteps({ [`${P}sizes`]: 'nonsense' })).toEqual([]);
  });

  it('are refused with the name of the annotation for a time that cannot be kept', async () => {
    for (const history of ['10y', '1m', 'always']) {
      const lab = await PolicyLab.rolledOut({ history }, {}, { controller: createDeploymentController() });
      expect(lab.condition('RolloutPolicy')).toContain(`${P}history: "${history}" is neither on nor off nor`);
    }
  });
});

describe('by which means something was asked for', () => {
  it.each([
    [{ manager: 'kubectl', subresource: 'scale' }, 'kubectl-scale'],
    [{ manager: 'kube-controller-manager', subresource: 'scale' }, 'autoscaler'],
    [{ manager: 'rollkeeper', subresource: 'scale' }, 'autoscaler'],
    [{ manager: 'rollkeeper' }, 'user'],
    [{ manager: 'kubectl-edit' }, 'user'],
    [{ manager: 'argocd-controller' }, 'gitops'],
    [{ manager: 'kustomize-controller' }, 'gitops'],
    [undefined, undefined],
  ])('%j: %s', (writer, means) => {
    expect(meansOf(writer)).toBe(means);
  });

  it('is the trigger, where the controller did it by itself', () => {
    expect(meansOfRevision('rollback', 'argocd-controller')).toBe('rollback');
    expect(meansOfRevision('configuration', undefined)).toBe('configuration');
    expect(meansOfRevision('undo', 'kubectl')).toBe('user');
    expect(meansOfRevision('change', undefined)).toBeUndefined();
  });

  it('is of the last writer of the size, of several', () => {
    const fields = (spec: object) => ({ fieldsV1: { 'f:spec': spec } });
    const entries = [
      { manager: 'kubectl', time: '2026-01-01T00:00:00Z', ...fields({ 'f:replicas': {} }) },
      { manager: 'hpa', subresource: 'scale', time: '2026-01-02T00:00:00Z', ...fields({ 'f:replicas': {} }) },
      { manager: 'other', time: '2026-01-03T00:00:00Z', ...fields({ 'f:template': {} }) },
    ];
    expect(lastWriterOfSize(entries)).toEqual({
      ...{ manager: 'hpa', subresource: 'scale', time: '2026-01-02T00:00:00Z' },
    });
    expect(lastWriterOfSize([])).toBeUndefined();
  });
});
