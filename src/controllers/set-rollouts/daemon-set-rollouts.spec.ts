import { describe, expect, it } from 'vitest';
import { Pod } from '../../machinery/kubernetes/index.js';
import { refusal } from '../../testing/rollout-world.js';
import { DaemonSet } from '../../runtime/index.js';
import { DaemonLab } from './daemon-lab.fixture.js';
import { P, REF, imageOf, withImage } from './set-lab.fixture.js';
import { setNodes } from './set-nodes.js';

const MINUTE = 60_000;

describe('a DaemonSet under policies', () => {
  it.each([
    ['RollingUpdate', 'it was given here', 'rollkeeper-rollouts'],
    ['OnDelete', 'another tool gave it', 'argocd'],
  ])('has the strategy %s after its annotations went in one write, if %s', async (type, _who, manager) => {
    const lab = await DaemonLab.rolledOut({ steps: '1; approve' });
    expect(lab.set.spec.updateStrategy?.type).toBe('OnDelete');
    const fieldsV1 = { 'f:spec': { 'f:updateStrategy': { 'f:type': {} } } };
    lab.change(({ metadata }) => {
      metadata.annotations = {};
      metadata.managedFields = [{ manager, operation: 'Apply', fieldsV1 }];
    });
    await lab.rest();
    expect(lab.set.spec.updateStrategy?.type).toBe(type);
  });

  it('leaves the pods of its nodes to the policies, and goes as far as its steps', async () => {
    const lab = await DaemonLab.rolledOut({ steps: '25%; approve' });
    expect(lab.versions).toBe('1 1 1 1');
    expect(lab.set.spec.updateStrategy).toEqual({ type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } });
    await lab.image('db:2');
    expect(lab.versions).toBe('2 1 1 1');
    expect(lab.says()).toBe('WaitingForApproval Step 2 of 2 (approve): waits for an approval');
    await lab.annotate('approve', 'ann');
    expect(lab.versions).toBe('2 2 2 2');
    expect(lab.says()).toContain('NewReplicaSetAvailable');
  });

  it('goes back by itself from a version whose pod does not become available', async () => {
    const lab = await DaemonLab.rolledOut({ 'on-failure': 'rollback', 'fail-after': '1m' });
    await lab.image('db:broken');
    expect(lab.versions).toBe('broken! 1 1 1');
    await lab.pass(2 * MINUTE);
    expect(lab.versions).toBe('1 1 1 1');
    expect(lab.set.spec.template.spec?.containers[0]?.image).toBe('db:1');
    expect(lab.says()).toMatch(/^RolledBack Revision 2 \(ControllerRevision "db-\w+"\) failed/);
  });

  it('is aborted in its middle', async () => {
    const lab = await DaemonLab.rolledOut({ steps: '2; approve' });
    await lab.image('db:2');
    expect(lab.versions).toBe('2 2 1 1');
    await lab.annotate('abort', 'ann');
    expect(lab.versions).toBe('1 1 1 1');
  });

  it('takes the steps of a version also if all pods are of one that came and went before it was seen', async () => {
    const lab = await DaemonLab.rolledOut({ steps: '1; approve' });
    lab.change(({ spec }) => {
      spec.template = withImage(spec.template, 'db:2');
    });
    for (const { metadata } of lab.pods) await lab.api.delete(Pod, metadata, {});
    await lab.syncGenuine();
    await lab.syncGenuine();
    await lab.kubelets();
    expect(lab.versions).toBe('2 2 2 2');
    await lab.image('db:3');
    expect(lab.versions).toBe('3 2 2 2');
    expect(lab.says()).toContain('WaitingForApproval');
  });

  it('goes on without a node that is lost, and replaces its pod once it is back', async () => {
    const lab = await DaemonLab.rolledOut({ 'on-failure': 'rollback', 'fail-after': '5m' });
    lab.setDown('b', true);
    await lab.image('db:2');
    expect(lab.versions).toBe('2 1! 2 2');
    await lab.pass(11 * MINUTE);
    expect(imageOf(lab.set.spec.template.spec)).toBe('db:2');
    expect(lab.says()).toContain('NewReplicaSetAvailable');
    lab.setDown('b', false);
    await lab.rest();
    expect(lab.versions).toBe('2 2 2 2');
  });

  it('does not touch a pod on a node that should not have one any more, and is complete without it', async () => {
    const lab = await DaemonLab.rolledOut({ 'on-failure': 'rollback' });
    lab.taint('b', 'NoSchedule');
    await lab.image('db:2');
    expect(lab.versions).toBe('2 1 2 2');
    expect(lab.says()).toContain('NewReplicaSetAvailable');
    lab.taint('b', undefined);
    await lab.rest();
    expect(lab.versions).toBe('2 2 2 2');
  });

  it('gets the strategy OnDelete again before its controller observes that a person changed it', async () => {
    const lab = await DaemonLab.rolledOut({ steps: '1; approve' });
    await lab.image('db:2');
    lab.change(({ spec }) => {
      spec.updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
    });
    await lab.syncOurs();
    expect(lab.set.spec.updateStrategy?.type).toBe('OnDelete');
    await lab.rest();
    expect(lab.versions).toBe('2 1 1 1');
  });

  it('does not begin during a freeze', async () => {
    const lab = await DaemonLab.rolledOut({ steps: '2; approve', freeze: 'inventory' });
    await lab.image('db:2');
    expect(lab.versions).toBe('1 1 1 1');
    expect(lab.says()).toContain('RolloutHeld The rollout is held by a freeze: inventory');
    await lab.annotate('freeze', '');
    expect(lab.versions).toBe('2 2 1 1');
  });

  it('gets its strategy back when it asks for no policy any more', async () => {
    const lab = await DaemonLab.rolledOut({ steps: '1; approve' });
    await lab.annotate('steps', '');
    expect(lab.set.spec.updateStrategy?.type).toBe('RollingUpdate');
    await lab.image('db:2');
    expect(lab.versions).toBe('2 2 2 2');
  });

  it('gets its strategy back also if a process died between the first write of it and the note of what there was', async () => {
    let dies = true;
    const lab = new DaemonLab(
      { steps: '1; approve' },
      {
        onWrite: ({ object }) => {
          const { metadata } = (object ?? {}) as { metadata?: { annotations?: Record<string, string> } };
          if (dies && metadata?.annotations?.[`${P}rollout`] !== undefined) throw refusal(500);
        },
      },
    );
    for (let passes = 0; passes < 3; passes++) await lab.rest().catch(() => lab.syncGenuine());
    dies = false;
    await lab.rest();
    expect(lab.set.spec.updateStrategy?.type).toBe('OnDelete');
    await lab.annotate('steps', '');
    expect(lab.set.spec.updateStrategy?.type).toBe('RollingUpdate');
  });

  it('cannot be held at a failed version, because its pods come back from the template that it has', async () => {
    const lab = await DaemonLab.rolledOut({ 'on-failure': 'hold' });
    expect(lab.says('RolloutPolicy')).toContain('its pods come back from the template that it has');
  });
});

describe('the nodes of DaemonSets', () => {
  it('are waited for until their first list, and done without if the server does not give it', () => {
    const informer = {
      hasSynced: false,
      trouble: undefined as object | undefined,
      lister: { list: () => [] },
    };
    const nodes = setNodes({ partialInformerFor: () => informer as never }, DaemonSet);
    expect(nodes.read()).toBe('starting');
    informer.trouble = { reason: 'Forbidden' };
    expect(nodes.read()).toBe('refused');
    informer.hasSynced = true;
    expect(nodes.read()).toEqual([]);
  });

  it('wake the sets that ask for policies if their labels or taints change, and not otherwise', () => {
    const informer = { lister: { list: () => [] } };
    const { watched } = setNodes({ partialInformerFor: () => informer as never }, DaemonSet);
    const aSet = (name: string, annotations = {}) => ({ metadata: { ...REF, name, annotations } });
    const sets = [aSet('asks', { [`${P}steps`]: '1; approve' }), aSet('does-not')];
    const node = (taints: object[], labels = {}) => ({ metadata: { name: 'a', labels }, spec: { taints } });
    const listerOf = () => ({ list: () => sets }) as never;
    expect([...watched.map(node([]) as never, listerOf)].map(({ name }) => name)).toEqual(['asks']);
    const isSeen = (old: object, object: object): boolean =>
      watched.predicates.every((predicate) => predicate({ type: 'modified', old, object } as never));
    expect(isSeen(node([]), node([]))).toBe(false);
    expect(isSeen(node([]), node([{ key: 'gpu', effect: 'NoSchedule' }]))).toBe(true);
    expect(isSeen(node([]), node([], { disk: 'ssd' }))).toBe(true);
  });

  it('wake the sets once with their first list if the server did not give it before, and not otherwise', () => {
    const informer = {
      hasSynced: false,
      trouble: { reason: 'ServiceUnavailable' },
      lister: { list: () => [] },
    };
    const nodes = setNodes({ partialInformerFor: () => informer as never }, DaemonSet);
    const { initially, predicates } = nodes.watched;
    const object = { metadata: { name: 'a' }, spec: { taints: [] } };
    const wakes = (): boolean =>
      initially === true &&
      predicates.every((predicate) => predicate({ type: 'added', initial: true, object } as never));
    expect(wakes()).toBe(false);
    expect(nodes.read()).toBe('refused');
    informer.hasSynced = true;
    expect(wakes()).toBe(true);
    expect(wakes()).toBe(false);
    nodes.read();
    expect(wakes()).toBe(false);
  });
});
