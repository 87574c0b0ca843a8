import { describe, expect, it } from 'vitest';
import { toRfc3339 } from '../../machinery/clock/index.js';
import { Node, Pod, semanticEqual, toDouble } from '../../machinery/kubernetes/index.js';
import { DaemonSet } from '../../runtime/index.js';
import type { AttemptedWrite } from '../../testing/in-memory/in-memory-api.js';
import { InMemoryApi } from '../../testing/in-memory/in-memory-api.js';
import { ReconcilerRun } from '../../testing/in-memory/run-reconciler.js';
import { MovedClock } from '../../testing/moved-clock.js';
import { WORLD_NOW_MS, refusal } from '../../testing/rollout-world.js';
import { daemonSetController } from '../daemonset/daemonset-controller.js';
import { createDaemonSetRollouts } from './daemon-set-rollouts.js';
import { readKeptState } from './kept-state.js';
import { P, REF, imageOf, withImage } from './set-lab.fixture.js';

const MINUTE = 60_000;

/** A DaemonSet on four nodes, on its own controller, with kubelets, and beside them the controller of its rollouts. */
class DaemonLab {
  readonly clock = new MovedClock(WORLD_NOW_MS);
  readonly api: InMemoryApi;
  readonly ours: ReconcilerRun;
  private readonly genuine: ReconcilerRun;
  private spec: unknown;

  constructor(policies: Record<string, string>, onWrite?: (write: AttemptedWrite) => void) {
    this.api = new InMemoryApi(onWrite);
    this.ours = new ReconcilerRun(createDaemonSetRollouts(), this.api, this.clock);
    this.genuine = new ReconcilerRun(daemonSetController, this.api, this.clock);
    for (const name of ['a', 'b', 'c', 'd'])
      this.api.seed<Node>(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name }, spec: {} });
    const labels = { app: 'db' };
    const annotations = Object.fromEntries(
      Object.entries(policies).map(([name, value]) => [P + name, value]),
    );
    this.api.seed<DaemonSet>(DaemonSet, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { ...REF, uid: 'uid-of-db', annotations },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'db', image: 'db:1' }] } },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      },
    });
  }

  static async rolledOut(policies: Record<string, string>): Promise<DaemonLab> {
    const lab = new DaemonLab(policies);
    await lab.rest();
    return lab;
  }

  get set(): DaemonSet {
    const [set] = this.api.all<DaemonSet>(DaemonSet);
    if (!set) throw new Error('there is no DaemonSet');
    return set;
  }

  /** The versions of the pods by their nodes, with a mark for one that is not ready. */
  get versions(): string {
    return this.api
      .all<Pod>(Pod)
      .toSorted((a, b) => nodeOf(a).localeCompare(nodeOf(b)))
      .map(({ spec, status }) => `${imageOf(spec).replace('db:', '')}${isReady(status) ? '' : '!'}`)
      .join(' ');
  }

  says(type = 'Progressing'): string {
    const { status } = readKeptState(this.set.metadata.annotations);
    const found = status.conditions?.find((each) => each.type === type);
    return `${found?.reason} ${found?.message}`;
  }

  async rest(): Promise<void> {
    for (let before = -1; before !== this.api.writes.length;) {
      before = this.api.writes.length;
      await this.ours.once(REF);
      await this.syncGenuine();
    }
  }

  async syncGenuine(): Promise<void> {
    this.count();
    await this.genuine.once(REF);
    this.kubelets();
  }

  async image(image: string): Promise<void> {
    this.change(({ spec }) => {
      spec.template = withImage(spec.template, image);
    });
    await this.rest();
  }

  async annotate(name: string, value: string): Promise<void> {
    this.change(({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, [P + name]: value };
    });
    await this.rest();
  }

  async pass(ms: number): Promise<void> {
    this.clock.move(ms);
    await this.rest();
  }

  change(change: (set: DaemonSet) => void): void {
    const copy = structuredClone(this.set);
    change(copy);
    this.api.seed(DaemonSet, copy);
    this.count();
  }

  private count(): void {
    const { set } = this;
    if (semanticEqual(this.spec, set.spec)) return;
    this.spec = set.spec;
    const generation = toDouble(set.metadata.generation ?? 0) + 1;
    this.api.seed(DaemonSet, { ...set, metadata: { ...set.metadata, generation } });
  }

  private kubelets(): void {
    for (const pod of this.api.all<Pod>(Pod)) {
      if (pod.status?.phase !== undefined) continue;
      const isBroken = imageOf(pod.spec).includes('broken');
      const now = toRfc3339(this.clock.now());
      this.api.seed(Pod, {
        ...pod,
        metadata: { ...pod.metadata, creationTimestamp: now },
        spec: { ...pod.spec, nodeName: nodeOf(pod) },
        status: {
          phase: isBroken ? 'Pending' : 'Running',
          conditions: [{ type: 'Ready', status: isBroken ? 'False' : 'True', lastTransitionTime: now }],
        },
      });
    }
  }
}

function nodeOf({ spec }: Pod): string {
  const { affinity, nodeName } = spec;
  const terms =
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return nodeName ?? terms[0]?.matchFields?.[0]?.values?.[0] ?? '';
}

function isReady(status: Pod['status']): boolean {
  return status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true;
}

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
    const lab = new DaemonLab({ steps: '1; approve' }, ({ object }) => {
      const { metadata } = (object ?? {}) as { metadata?: { annotations?: Record<string, string> } };
      if (dies && metadata?.annotations?.[`${P}rollout`] !== undefined) throw refusal(500);
    });
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
