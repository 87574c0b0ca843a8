import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../machinery/kubernetes/index.js';
import { refusal } from '../../testing/rollout-world.js';
import { HELD } from './decide-partition.js';
import { ControllerRevision } from '../shared/index.js';
import { statefulSetRollout } from './shown-rollout.js';
import { P, SetLab, imageOf, withImage } from './set-lab.fixture.js';

const MINUTE = 60_000;

/** The entry of a tool that applies the partition. */
function appliedBy(manager: string): object {
  const fieldsV1 = { 'f:spec': { 'f:updateStrategy': { 'f:rollingUpdate': { 'f:partition': {} } } } };
  return { manager, operation: 'Apply', apiVersion: 'apps/v1', fieldsType: 'FieldsV1', fieldsV1 };
}

describe('a StatefulSet under policies', () => {
  it('is held at rest, so that a change of its template does not begin before it was seen', async () => {
    const lab = await SetLab.rolledOut({ steps: '1; approve' });
    expect(lab.versions).toBe('1 1 1 1');
    expect(lab.partition).toBe(HELD);
    lab.change(({ spec }) => {
      spec.replicas = 5;
      for (const container of spec.template.spec?.containers ?? []) container.image = 'db:2';
    });
    await lab.syncGenuine();
    await lab.syncGenuine();
    lab.kubelet();
    expect(lab.versions).toBe('1 1 1 1 1');
  });

  it('goes as far as its steps, and on when it is approved (argo-rollouts#1635, #3502, flagger#410)', async () => {
    const lab = await SetLab.rolledOut({ steps: '1; approve; 50%; wait 5m' });
    await lab.image('db:2');
    expect(lab.versions).toBe('1 1 1 2');
    expect(lab.says()).toBe('WaitingForApproval Step 2 of 4 (approve): waits for an approval');
    await lab.annotate('approve', 'ann');
    expect(lab.versions).toBe('1 1 2 2');
    expect(lab.set.metadata.annotations).not.toHaveProperty([`${P}approve`]);
    await lab.pass(5 * MINUTE);
    expect(lab.versions).toBe('2 2 2 2');
    expect(lab.says()).toMatch(
      /^NewReplicaSetAvailable ControllerRevision "db-\w+" has successfully progressed/,
    );
    expect(lab.partition).toBe(HELD);
    expect(lab.set.status?.currentRevision).toBe(lab.set.status?.updateRevision);
  });

  it('is held again before its controller observes that a person let all pods go in the middle of a rollout', async () => {
    const lab = await SetLab.rolledOut({ steps: '1; approve' });
    await lab.image('db:2');
    expect(lab.partition).toBe(3);
    lab.change(({ spec }) => {
      spec.updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 0 } };
    });
    await lab.syncOurs();
    expect(lab.partition).toBe(3);
    await lab.rest();
    expect(lab.versions).toBe('1 1 1 2');
    await lab.annotate('approve', 'ann');
    expect(lab.versions).toBe('2 2 2 2');
  });

  it('lets no pods that it is scaled by be of a version that has not come so far', async () => {
    const lab = await SetLab.rolledOut({ steps: '1; approve' });
    await lab.image('db:2');
    lab.change(({ spec }) => {
      spec.replicas = 8;
    });
    await lab.syncOurs();
    await lab.rest();
    expect(lab.versions).toBe('1 1 1 2 1 1 1 2');
  });

  it('goes on from a changed partition only after its controller has observed it', async () => {
    const lab = await SetLab.rolledOut({ steps: '1; approve' });
    await lab.image('db:2');
    lab.change(({ metadata, spec }) => {
      metadata.annotations = { ...metadata.annotations, [`${P}approve`]: 'ann' };
      spec.updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 4 } };
    });
    await lab.syncOurs();
    expect(lab.partition).toBe(4);
    expect(lab.set.metadata.annotations).toHaveProperty([`${P}approve`]);
  });

  it('does not begin during a freeze', async () => {
    const lab = await SetLab.rolledOut({ 'on-failure': 'rollback', freeze: 'inventory' });
    await lab.image('db:2');
    expect(lab.versions).toBe('1 1 1 1');
    expect(lab.says()).toContain('RolloutHeld The rollout is held by a freeze: inventory');
    await lab.annotate('freeze', undefined);
    expect(lab.versions).toBe('2 2 2 2');
  });

  it('goes back by itself when its progress deadline passes, past the pod that is not ready', async () => {
    const lab = await SetLab.rolledOut({ 'on-failure': 'rollback' });
    await lab.image('db:broken');
    expect(lab.versions).toBe('1 1 1 broken!');
    await lab.pass(11 * MINUTE);
    expect(lab.versions).toBe('1 1 1 1');
    expect(lab.set.spec.template.spec?.containers[0]?.image).toBe('db:1');
    expect(lab.says()).toMatch(
      /^RolledBack Revision 2 \(ControllerRevision "db-\w+"\) failed: its progress deadline passed/,
    );
    expect(lab.partition).toBe(HELD);
    expect(lab.events.join('\n')).toMatch(/PodReplaced Deleted pod db-3/);
  });

  it('keeps the template of a failed version where it only holds, and runs the version before', async () => {
    const lab = await SetLab.rolledOut({ 'on-failure': 'hold', 'fail-after': '1m' });
    await lab.image('db:broken');
    await lab.pass(2 * MINUTE);
    expect(lab.versions).toBe('1 1 1 1');
    expect(lab.set.spec.template.spec?.containers[0]?.image).toBe('db:broken');
    expect(lab.says()).toContain('ProgressDeadlineExceeded RolledBack: Revision 2');
    lab.change(({ spec }) => {
      spec.replicas = 6;
    });
    await lab.rest();
    expect(lab.versions).toBe('1 1 1 1 1 1');
    await lab.image('db:2');
    expect(lab.versions).toBe('2 2 2 2 2 2');
  });

  it('goes back when a person aborts it in the middle, one pod at a time', async () => {
    const lab = await SetLab.rolledOut({ steps: '3; approve' }, { replicas: 5 });
    await lab.image('db:2');
    expect(lab.versions).toBe('1 1 2 2 2');
    await lab.annotate('abort', 'ann');
    expect(lab.versions).toBe('1 1 1 1 1');
    expect(lab.set.spec.template.spec?.containers[0]?.image).toBe('db:1');
  });

  it('replaces a pod of a broken version that another version came after, although pods go in order (kubernetes/kubernetes#67250)', async () => {
    const lab = await SetLab.rolledOut({ steps: '50%; approve' });
    await lab.image('db:broken');
    expect(lab.versions).toBe('1 1 1 broken!');
    await lab.image('db:3');
    expect(lab.versions).toBe('1 1 3 3');
  });

  it('goes back from a version that was complete, and failed within its bake time', async () => {
    const lab = await SetLab.rolledOut({ 'on-failure': 'rollback', 'bake-time': '10m' });
    await lab.pass(11 * MINUTE);
    await lab.image('db:2');
    expect(lab.versions).toBe('2 2 2 2');
    expect(lab.set.status?.currentRevision).toBe(lab.revisionOf('db:2')?.metadata.name);
    lab.crash('db-2');
    await lab.pass(MINUTE);
    expect(lab.versions).toBe('1 1 1 1');
    expect(lab.says()).toContain('RolledBack Revision 2');
  });

  it('gets its partition back when it asks for no policy any more', async () => {
    const lab = await SetLab.rolledOut({ steps: '1; approve' });
    await lab.annotate('steps', undefined);
    expect(lab.partition).toBe(0);
    expect(lab.set.metadata.annotations).toEqual({});
    await lab.image('db:2');
    expect(lab.versions).toBe('2 2 2 2');
  });

  it('gets its partition back also if a process dies before it has written that there is nothing left to do', async () => {
    let dies = false;
    const lab = await SetLab.rolledOut(
      { steps: '1; approve' },
      {
        onWrite: ({ object }) => {
          const { metadata } = (object ?? {}) as { metadata?: { annotations?: object } };
          if (dies && metadata?.annotations) throw refusal(500);
        },
      },
    );
    lab.change(({ metadata }) => {
      delete metadata.annotations?.[`${P}steps`];
    });
    dies = true;
    await expect(lab.syncOurs()).rejects.toThrow();
    expect(lab.partition).toBe(0);
    dies = false;
    await lab.rest();
    expect(lab.set.metadata.annotations).toEqual({});
  });

  it('gets its partition back also if a process died between the hold and the note of what there was', async () => {
    let dies = true;
    const lab = new SetLab(
      { steps: '1; approve' },
      {
        onWrite: ({ object }) => {
          const { metadata } = (object ?? {}) as { metadata?: { annotations?: Record<string, string> } };
          if (dies && metadata?.annotations?.[`${P}rollout`] !== undefined) throw refusal(500);
        },
      },
    );
    await lab.syncGenuine();
    lab.kubelet();
    await lab.syncGenuine();
    await lab.syncOurs().catch(() => undefined);
    await lab.syncGenuine();
    await expect(lab.syncOurs()).rejects.toThrow();
    dies = false;
    await lab.rest();
    expect(lab.partition).toBe(HELD);
    await lab.annotate('steps', undefined);
    expect(lab.partition).toBe(0);
  });

  it('is held by no value that was applied here, after a person has removed the note of what there was', async () => {
    const lab = await SetLab.rolledOut({ steps: '1; approve' });
    lab.change(({ metadata }) => {
      metadata.managedFields = [appliedBy('rollkeeper-rollouts')];
    });
    await lab.annotate('rollout', undefined);
    await lab.annotate('steps', undefined);
    expect(lab.partition).toBe(0);
  });

  it('keeps the partition that another tool has given it, when it asks for no policy any more', async () => {
    const lab = new SetLab({ steps: '1; approve' });
    lab.change(({ metadata }) => {
      metadata.managedFields = [appliedBy('argocd')];
    });
    await lab.rest();
    lab.change(({ spec }) => {
      spec.updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 3 } };
    });
    await lab.annotate('steps', undefined);
    expect(lab.partition).toBe(3);
    expect(lab.set.metadata.annotations).toEqual({});
  });

  it('does not take the state of another set, whose annotations it was created with, for its own', async () => {
    const time = '2026-01-01T10:00:00Z';
    const condition = { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', message: '' };
    const state = {
      ...{ uid: 'uid-of-another', revision: '3', original: '0', observedGeneration: 9 },
      ...{ replicas: 4, updatedReplicas: 4, readyReplicas: 3, availableReplicas: 3 },
      conditions: [{ ...condition, lastUpdateTime: time, lastTransitionTime: time }],
    };
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: HELD } } as const;
    const policies = { 'on-failure': 'rollback', rollout: stringifyJson(state) };
    const lab = new SetLab(policies, { spec: { updateStrategy } });
    for (let pod = 0; pod < 2; pod++) {
      await lab.syncGenuine();
      lab.kubelet();
      await lab.syncOurs();
    }
    expect(lab.says()).toContain('is progressing');
    await lab.rest();
    expect(lab.says()).toContain('NewReplicaSetAvailable');
    expect(lab.events).toEqual([]);
    await lab.annotate('on-failure', undefined);
    expect(lab.partition).toBe(0);
  });

  it('shows what its own controller counts, and not an empty state, while its state is one that was copied', async () => {
    const state = { uid: 'uid-of-another', replicas: 9, observedGeneration: 9 };
    const lab = await SetLab.rolledOut({});
    lab.change(({ metadata }) => {
      metadata.annotations = { [`${P}rollout`]: stringifyJson(state) };
    });
    const { pods, revisions, set } = lab;
    const { status } = statefulSetRollout({ set, revisions, pods }, lab.clock.now()).deployment;
    expect(status).toMatchObject({ replicas: 4, updatedReplicas: 4 });
  });

  it('looks again when a pod has been ready for minReadySeconds, because the clock of its controller may be ahead', async () => {
    const lab = await SetLab.rolledOut({ steps: '1; wait 1h' }, { spec: { minReadySeconds: 30 } });
    for (let pod = 0; pod < 4; pod++) await lab.pass(30_000);
    await lab.image('db:2');
    await lab.syncOurs();
    expect(lab.ours.requeueAfterMs).toBe(30_000);
  });

  it('is left alone if it asks for none', async () => {
    const lab = await SetLab.rolledOut({});
    await lab.image('db:2');
    expect(lab.partition).toBe(0);
    expect(lab.ours.notes).toEqual([]);
    expect(lab.set.metadata.annotations).toEqual({});
  });

  it('is not held while another tool writes its partition, and says so once', async () => {
    const lab = new SetLab({ steps: '1; approve' });
    lab.change(({ metadata }) => {
      metadata.managedFields = [appliedBy('argocd')];
    });
    await lab.rest();
    expect(lab.partition).toBe(0);
    const told = 'StrategyNotOurs argocd also writes spec.updateStrategy.rollingUpdate.partition';
    expect(lab.says('RolloutPolicy')).toContain(told);
    expect(lab.events.filter((event) => event.includes(told))).toHaveLength(1);
    lab.change(({ metadata }) => delete metadata.managedFields);
    await lab.rest();
    expect(lab.partition).toBe(HELD);
    expect(lab.says('RolloutPolicy')).toBe('');
  });

  it('holds a version during a freeze and at its steps although it has annotations that look like notes on a revision', async () => {
    const lab = await SetLab.rolledOut({ steps: '1; approve' });
    await lab.image('db:2');
    await lab.annotate('approve', 'ann');
    const notes = lab.revisionOf('db:2')?.metadata.annotations;
    lab.change(({ metadata }) => {
      metadata.annotations = { ...notes, ...metadata.annotations };
    });
    await lab.annotate('freeze', 'inventory');
    await lab.image('db:3');
    expect(lab.versions).toBe('2 2 2 2');
    await lab.annotate('freeze', undefined);
    expect(lab.versions).toBe('2 2 2 3');
  });

  it('takes no template from a revision of another namespace that names the set as its owner', async () => {
    const lab = await SetLab.rolledOut({ 'on-failure': 'rollback', 'fail-after': '1m' });
    const [own] = lab.revisions;
    if (!own) throw new Error('there is no revision');
    const template = withImage(lab.set.spec.template, 'evil');
    lab.api.seed(ControllerRevision, {
      ...own,
      metadata: { ...own.metadata, namespace: 'other', name: 'db-evil', uid: 'evil' },
      data: { spec: { template } },
      revision: 9,
    });
    await lab.image('db:broken');
    await lab.pass(2 * MINUTE);
    expect(imageOf(lab.set.spec.template.spec)).toBe('db:1');
    expect(lab.versions).toBe('1 1 1 1');
  });

  it('begins no version while an annotation asks for what no set can do', async () => {
    const lab = await SetLab.rolledOut({ steps: '1; weight 5%' });
    await lab.image('db:2');
    expect(lab.versions).toBe('1 1 1 1');
    expect(lab.says('RolloutPolicy')).toContain(
      'has a step "weight", which cannot be followed for a StatefulSet',
    );
  });

  it('keeps how each revision came about and ended', async () => {
    const lab = await SetLab.rolledOut({ steps: '1; approve' });
    await lab.image('db:2');
    await lab.annotate('approve', 'ann');
    const entries = lab.revisionOf('db:2')?.metadata.annotations?.[`${P}revisions`] ?? '';
    expect(JSON.parse(entries)).toMatchObject([
      {
        revision: '2',
        trigger: 'change',
        what: 'container db: image db:1 → db:2',
        ended: { as: 'complete' },
      },
    ]);
  });
});
