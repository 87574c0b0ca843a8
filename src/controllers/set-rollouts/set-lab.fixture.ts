import type { PodTemplateSpec } from '../../machinery/kubernetes/index.js';
import { Pod, isTerminating } from '../../machinery/kubernetes/index.js';
import { toRfc3339 } from '../../machinery/clock/index.js';
import { StatefulSet } from '../../runtime/index.js';
import type { AttemptedWrite } from '../../testing/in-memory/in-memory-api.js';
import { ReconcilerRun } from '../../testing/in-memory/run-reconciler.js';
import { MovedClock } from '../../testing/moved-clock.js';
import { WORLD_NOW_MS } from '../../testing/rollout-world.js';
import { ControllerRevision } from '../shared/index.js';
import { statefulSetController } from '../statefulset/statefulset-controller.js';
import { CountingApi } from './counting-api.fixture.js';
import { readKeptState } from './kept-state.js';
import type { SetRolloutsOptions } from './set-rollouts.js';
import { createStatefulSetRollouts } from './stateful-set-rollouts.js';
import { partitionOf } from './stateful-set-view.js';

export const P = 'rollkeeper.dev/';
export const REF = { namespace: 'default', name: 'db' };

interface LabShape {
  readonly replicas?: number;
  readonly spec?: Partial<StatefulSet['spec']>;
  readonly checks?: SetRolloutsOptions['checks'];
  readonly onWrite?: (write: AttemptedWrite) => void;
}

/** A StatefulSet on its own controller, with a kubelet, and beside them the controller of its rollouts. */
export class SetLab {
  readonly clock = new MovedClock(WORLD_NOW_MS);
  readonly api: CountingApi;
  readonly ours: ReconcilerRun;
  private readonly genuine: ReconcilerRun;

  constructor(
    policies: Record<string, string>,
    { checks, onWrite = () => undefined, replicas = 4, spec = {} }: LabShape = {},
  ) {
    this.api = new CountingApi({ kind: StatefulSet, nowMs: () => this.clock.now(), onWrite });
    this.genuine = new ReconcilerRun(statefulSetController, this.api, this.clock);
    this.ours = new ReconcilerRun(createStatefulSetRollouts({ checks }), this.api, this.clock);
    const labels = { app: 'db' };
    this.api.seed<StatefulSet>(StatefulSet, {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: {
        ...REF,
        uid: 'uid-of-db',
        annotations: Object.fromEntries(Object.entries(policies).map(([name, value]) => [P + name, value])),
      },
      spec: {
        replicas,
        serviceName: 'db',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'db', image: 'db:1' }] } },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
        ...spec,
      },
    });
    this.api.count();
  }

  static async rolledOut(policies: Record<string, string>, shape?: LabShape): Promise<SetLab> {
    const lab = new SetLab(policies, shape);
    await lab.rest();
    return lab;
  }

  get set(): StatefulSet {
    const [set] = this.api.all<StatefulSet>(StatefulSet);
    if (!set) throw new Error('there is no StatefulSet');
    return set;
  }

  get partition(): number {
    return partitionOf(this.set);
  }

  get pods(): readonly Pod[] {
    return this.api.all<Pod>(Pod);
  }

  /** The versions of the pods in their order: `1 1 2! 2`, with a mark for one that is not ready. */
  get versions(): string {
    return this.pods
      .map((pod) => {
        const version = imageOf(pod.spec).replace('db:', '');
        return pod.status?.conditions?.some(({ status, type }) => type === 'Ready' && status === 'True')
          ? version
          : `${version}!`;
      })
      .join(' ');
  }

  get revisions(): readonly ControllerRevision[] {
    return this.api.all<ControllerRevision>(ControllerRevision);
  }

  /** The reason and the message of a condition, as a Deployment would have it. */
  says(type = 'Progressing'): string {
    const { status } = readKeptState(this.set.metadata);
    const found = status.conditions?.find((each) => each.type === type);
    return found ? `${found.reason} ${found.message}` : '';
  }

  get events(): readonly string[] {
    return this.ours.notes.map(({ message, reason }) => `${reason} ${message}`);
  }

  /** All do what there is to do, until nothing changes. */
  async rest(): Promise<void> {
    for (let rounds = 0, before = -1; before !== this.api.writes.length; rounds++) {
      if (rounds > 200) throw new Error('does not come to rest');
      before = this.api.writes.length;
      await this.syncOurs();
      await this.syncGenuine();
      this.kubelet();
    }
  }

  async syncOurs(): Promise<void> {
    await this.ours.once(REF).finally(() => this.api.count());
  }

  async syncGenuine(): Promise<void> {
    await this.genuine.once(REF).finally(() => this.api.count());
  }

  /** Starts the pods that can be started. */
  kubelet(): void {
    for (const pod of this.pods) {
      const isStarted = pod.status?.phase === 'Running';
      if (isStarted || isTerminating(pod)) continue;
      const isBroken = imageOf(pod.spec).includes('broken');
      const now = toRfc3339(this.clock.now());
      const waiting = {
        name: 'db',
        image: imageOf(pod.spec),
        imageID: '',
        ready: false,
        restartCount: 0,
        state: { waiting: { reason: 'ImagePullBackOff' } },
      };
      const ready = { type: 'Ready', status: isBroken ? 'False' : 'True', lastTransitionTime: now } as const;
      this.api.seed(Pod, {
        ...pod,
        status: {
          phase: isBroken ? 'Pending' : 'Running',
          startTime: now,
          conditions: [ready],
          ...(isBroken && { containerStatuses: [waiting] }),
        },
      });
    }
  }

  /** The container of a pod does not stay up any more. */
  crash(name: string): void {
    const pod = this.pods.find(({ metadata }) => metadata.name === name);
    if (!pod) throw new Error(`there is no pod ${name}`);
    const conditions = [
      { type: 'Ready', status: 'False', lastTransitionTime: toRfc3339(this.clock.now()) } as const,
    ];
    const state = { waiting: { reason: 'CrashLoopBackOff' } };
    const containerStatuses = [
      { name: 'db', image: imageOf(pod.spec), imageID: '', ready: false, restartCount: 5, state },
    ];
    this.api.seed(Pod, { ...pod, status: { ...pod.status, conditions, containerStatuses } });
  }

  async pass(ms: number): Promise<void> {
    this.clock.move(ms);
    await this.rest();
  }

  change(change: (set: StatefulSet) => void): void {
    const copy = structuredClone(this.set);
    change(copy);
    this.api.seed(StatefulSet, copy);
    this.api.count();
  }

  async image(image: string): Promise<void> {
    this.change(({ spec }) => {
      spec.template = withImage(spec.template, image);
    });
    await this.rest();
  }

  async annotate(name: string, value: string | undefined): Promise<void> {
    this.change(({ metadata }) => {
      const { [P + name]: _before, ...others } = metadata.annotations ?? {};
      metadata.annotations = value === undefined ? others : { ...others, [P + name]: value };
    });
    await this.rest();
  }

  revisionOf(image: string): ControllerRevision | undefined {
    return this.revisions.find(({ data }) => imageOf(data?.spec?.template?.spec) === image);
  }
}

export function imageOf(
  spec: { readonly containers: readonly { readonly image?: string }[] } | undefined,
): string {
  return spec?.containers[0]?.image ?? '';
}

export function withImage(template: PodTemplateSpec, image: string): PodTemplateSpec {
  const copy = structuredClone(template);
  const [container] = copy.spec?.containers ?? [];
  if (container) container.image = image;
  return copy;
}
