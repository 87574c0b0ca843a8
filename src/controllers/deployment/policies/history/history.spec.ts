import { describe, expect, it } from 'vitest';
import { MINUTE_MS, P, PAST_DEADLINE_MS, PolicyLab } from '../../../../testing/policy-lab.js';
import { BROKEN_IMAGE } from '../../../../testing/rollout-world.js';
import { podTemplateHash } from '../../kubernetes/pod-template.js';
import type { NotedChange } from './history.js';
import { readRevisionEntries, withNotedChange } from './history.js';
import { lastManagerOfTemplate } from './managers.js';

const entriesOf = (lab: PolicyLab, image: string) =>
  readRevisionEntries(lab.replicaSet(image).metadata.annotations);

describe('the history of a Deployment under a policy', () => {
  it('says of each revision what changed, why, who asked, and how its rollout ended', async () => {
    const lab = await PolicyLab.rolledOut({ history: 'on', 'changed-by': 'anna' });
    lab.world.change(({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'kubernetes.io/change-cause': 'the new shop' };
    });
    await lab.image('app:2');
    expect(entriesOf(lab, 'app:2')).toMatchObject([
      {
        revision: '2',
        trigger: 'change',
        user: 'anna',
        why: 'the new shop',
        what: expect.stringMatching(/^container \w+: image app:1 → app:2$/) as string,
        ended: { as: 'complete' },
      },
    ]);
  });

  it.each<[string, string, string | undefined]>([
    ['is forgotten with the next change where it was given for an undo', 'slower than before', undefined],
    ['stays where a person annotates another one, as in Kubernetes', 'the new shop', 'the new shop'],
  ])('a change-cause %s', async (_, cause, expected) => {
    const lab = await PolicyLab.rolledOut({ history: 'on' });
    await lab.image('app:2');
    const { template } = lab.replicaSet('app:1').spec;
    lab.world.change(({ metadata, spec }) => {
      spec.template = { ...spec.template, spec: template?.spec };
      const change: NotedChange = {
        template: podTemplateHash(spec.template),
        trigger: 'undo',
        by: 'anna',
        why: 'slower than before',
      };
      const annotations = withNotedChange(metadata.annotations ?? {}, change);
      metadata.annotations = { ...annotations, 'kubernetes.io/change-cause': cause };
    });
    await lab.rest();
    expect(entriesOf(lab, 'app:1')[0]).toMatchObject({ trigger: 'undo', why: 'slower than before' });
    await lab.image('app:3');
    expect(entriesOf(lab, 'app:3')[0]?.why).toBe(expected);
    const causeOf = lab.replicaSet('app:3').metadata.annotations?.['kubernetes.io/change-cause'];
    expect(causeOf).toBe(expected);
  });

  it('keeps an entry for each rollout of a template that came back, the last three of them', async () => {
    const lab = await PolicyLab.rolledOut({ history: 'on' });
    for (const image of ['app:2', 'app:1', 'app:2', 'app:1', 'app:2', 'app:1']) await lab.image(image);
    const entries = entriesOf(lab, 'app:1');
    expect(entries.map(({ revision, trigger }) => [revision, trigger])).toEqual([
      ['7', 'undo'],
      ['5', 'undo'],
      ['3', 'undo'],
    ]);
    expect(entries.every(({ ended }) => ended?.as === 'complete')).toBe(true);
  });

  it('tells a rollback of its own from an undo, names its cause, and says of the failed revision why it failed', async () => {
    const lab = await PolicyLab.rolledOut({ 'on-failure': 'rollback' });
    await lab.image(BROKEN_IMAGE);
    await lab.pass(PAST_DEADLINE_MS);
    expect(entriesOf(lab, BROKEN_IMAGE)[0]).toMatchObject({ ended: { as: 'failed' } });
    expect(entriesOf(lab, BROKEN_IMAGE)[0]?.ended?.why).toContain('progress deadline');
    expect(entriesOf(lab, 'app:1')[0]).toMatchObject({
      revision: '3',
      trigger: 'rollback',
      by: 'rollkeeper',
    });
    expect(entriesOf(lab, 'app:1')[0]?.why).toContain('progress deadline');
    await lab.annotate('retry', 'alice');
    expect(entriesOf(lab, BROKEN_IMAGE)[0]).toMatchObject({ revision: '4', trigger: 'retry', by: 'alice' });
  });

  it('calls a template that differs by the time of a restart alone a restart', async () => {
    const lab = await PolicyLab.rolledOut({ history: 'on' });
    lab.world.change(({ spec }) => {
      const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' };
      spec.template.metadata = { ...spec.template.metadata, annotations };
    });
    await lab.rest();
    const triggers = lab.world.replicaSets.flatMap(({ metadata }) =>
      readRevisionEntries(metadata.annotations).map(({ trigger }) => trigger),
    );
    expect(triggers.sort()).toEqual(['change', 'restart']);
  });

  it('says that a rollout which failed was complete after all, once it is', async () => {
    const lab = await PolicyLab.rolledOut({ history: 'on' });
    lab.world.breaks = () => true;
    await lab.image('app:2');
    await lab.pass(PAST_DEADLINE_MS);
    expect(entriesOf(lab, 'app:2')[0]?.ended?.as).toBe('failed');
    lab.world.breaks = () => false;
    await lab.pass(MINUTE_MS);
    expect(entriesOf(lab, 'app:2')[0]?.ended?.as).toBe('complete');
  });

  it('says that a complete rollout failed after all, where it does in its bake time', async () => {
    const lab = await PolicyLab.rolledOut({ 'on-failure': 'hold', 'bake-time': '10m' });
    await lab.pass(11 * MINUTE_MS);
    await lab.image('app:2');
    expect(entriesOf(lab, 'app:2')[0]?.ended?.as).toBe('complete');
    await lab.annotate('abort', 'alice');
    expect(entriesOf(lab, 'app:2')[0]?.ended).toMatchObject({
      as: 'failed',
      why: 'aborted (claimed by alice)',
    });
  });

  it('is not kept where it is turned off, nor without any policy', async () => {
    const both: Record<string, string>[] = [{ history: 'off', 'on-failure': 'rollback' }, {}];
    for (const settings of both) {
      const lab = await PolicyLab.rolledOut(settings);
      await lab.image('app:2');
      expect(lab.replicaSet('app:2').metadata.annotations?.[`${P}revisions`]).toBeUndefined();
    }
  });

  it('begins with the next revision where it is turned on later', async () => {
    const lab = await PolicyLab.rolledOut({});
    await lab.annotate('history', 'on');
    expect(entriesOf(lab, 'app:1')).toEqual([]);
    await lab.image('app:2');
    expect(entriesOf(lab, 'app:2')).toHaveLength(1);
  });

  it('ignores what another hand wrote in its place', () => {
    for (const text of ['', '{', '[1]', '[{"revision":"1"}]', '{}'])
      expect(readRevisionEntries({ [`${P}revisions`]: text })).toEqual([]);
  });
});

describe('the field manager of a template', () => {
  it('is the one that wrote to it last', () => {
    const writer = (manager: string, time: string, fields: object) => ({ manager, time, fieldsV1: fields });
    const template = { 'f:spec': { 'f:template': {} } };
    expect(
      lastManagerOfTemplate([
        writer('kubectl-create', '2026-01-01T00:00:00Z', template),
        writer('kubectl-set', '2026-01-02T00:00:00Z', template),
        writer('autoscaler', '2026-01-03T00:00:00Z', { 'f:spec': { 'f:replicas': {} } }),
      ]),
    ).toBe('kubectl-set');
    expect(lastManagerOfTemplate()).toBeUndefined();
  });
});
