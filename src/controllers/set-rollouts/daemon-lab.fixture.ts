import { toRfc3339 } from '../../machinery/clock/index.js';
import type { DeleteResult } from '../../client/api-client/index.js';
import type { KubernetesObject, ObjectRef, ResourceType, Taint } from '../../machinery/kubernetes/index.js';
import { Node, Pod, isPodReady, isTerminating } from '../../machinery/kubernetes/index.js';
import { DaemonSet } from '../../runtime/index.js';
import type { AttemptedWrite, InMemoryApi } from '../../testing/in-memory/in-memory-api.js';
import { ReconcilerRun } from '../../testing/in-memory/run-reconciler.js';
import { MovedClock } from '../../testing/moved-clock.js';
import { WORLD_NOW_MS } from '../../testing/rollout-world.js';
import { daemonSetController } from '../daemonset/daemonset-controller.js';
import { ControllerRevision } from '../shared/index.js';
import { CountingApi } from './counting-api.fixture.js';
import { createDaemonSetRollouts } from './daemon-set-rollouts.js';
import { readKeptState } from './kept-state.js';
import { P, REF, imageOf, withImage } from './set-lab.fixture.js';
import type { SetRolloutsOptions } from './set-rollouts.js';

export interface DaemonShape {
  /** The names of the nodes. @default four */
  readonly nodes?: readonly string[];
  readonly spec?: Partial<DaemonSet['spec']>;
  readonly checks?: SetRolloutsOptions['checks'];
  /** Called before each write; if it throws, that is the API's answer. */
  readonly onWrite?: (write: AttemptedWrite) => void;
  /** Called after each write; if it throws, the answer is lost. */
  readonly onAnswer?: () => void;
}

const UNREACHABLE = 'node.kubernetes.io/unreachable';

type DeleteArguments = Parameters<InMemoryApi['delete']>;

/** The pods of a node that is down do not end before it is back. */
class NodesApi extends CountingApi {
  readonly down = new Set<string>();
  /** The writes of kubelets are not those of controllers. */
  isKubelet = false;

  override async delete<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    options: DeleteArguments[2] = {},
  ): Promise<DeleteResult<T>> {
    const pod = type === Pod ? this.podOf(ref) : undefined;
    if (!pod || this.isKubelet || !this.down.has(nodeOf(pod)))
      return this.answered(super.delete<T>(type, ref, options));
    const deletionTimestamp = pod.metadata.creationTimestamp ?? '';
    const body = { metadata: { ...options.preconditions, deletionTimestamp } };
    await this.patch(type, ref, { type: 'merge', body });
    return {};
  }

  private podOf({ name, namespace }: ObjectRef): Pod | undefined {
    return this.all<Pod>(Pod).find(
      ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
    );
  }
}

/** A DaemonSet on some nodes, on its own controller, with kubelets, and beside them the controller of its rollouts. */
export class DaemonLab {
  readonly clock = new MovedClock(WORLD_NOW_MS);
  readonly api: NodesApi;
  readonly ours: ReconcilerRun;
  private readonly genuine: ReconcilerRun;

  constructor(
    policies: Record<string, string>,
    {
      checks,
      nodes = ['a', 'b', 'c', 'd'],
      onAnswer,
      onWrite = () => undefined,
      spec = {},
    }: DaemonShape = {},
  ) {
    this.api = new NodesApi({
      kind: DaemonSet,
      nowMs: () => this.clock.now(),
      onWrite: (write) => {
        if (!this.api.isKubelet) onWrite(write);
      },
      onAnswer: () => {
        if (!this.api.isKubelet) onAnswer?.();
      },
    });
    this.ours = new ReconcilerRun(createDaemonSetRollouts({ checks }), this.api, this.clock);
    this.genuine = new ReconcilerRun(daemonSetController, this.api, this.clock);
    for (const name of nodes) this.addNode(name);
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
        ...spec,
      },
    });
    this.api.count();
  }

  static async rolledOut(policies: Record<string, string>, shape?: DaemonShape): Promise<DaemonLab> {
    const lab = new DaemonLab(policies, shape);
    await lab.rest();
    return lab;
  }

  get set(): DaemonSet {
    const [set] = this.api.all<DaemonSet>(DaemonSet);
    if (!set) throw new Error('there is no DaemonSet');
    return set;
  }

  get nodes(): readonly Node[] {
    return this.api.all<Node>(Node);
  }

  /** In the order of their nodes. */
  get pods(): readonly Pod[] {
    return this.api.all<Pod>(Pod).toSorted((a, b) => nodeOf(a).localeCompare(nodeOf(b)));
  }

  /** The versions of the pods by their nodes, with a mark for one that is not ready. */
  get versions(): string {
    return this.pods
      .map((pod) => `${imageOf(pod.spec).replace('db:', '')}${isPodReady(pod) ? '' : '!'}`)
      .join(' ');
  }

  get revisions(): readonly ControllerRevision[] {
    return this.api.all<ControllerRevision>(ControllerRevision);
  }

  says(type = 'Progressing'): string {
    const { status } = readKeptState(this.set.metadata);
    const found = status.conditions?.find((each) => each.type === type);
    return found ? `${found.reason} ${found.message}` : '';
  }

  addNode(name: string): void {
    this.api.seed<Node>(Node, {
      ...{ apiVersion: 'v1', kind: 'Node', spec: {} },
      metadata: { name, uid: name, labels: { pool: 'abc'.includes(name) ? 'fast' : 'slow' } },
    });
  }

  /** Its pods are left to the set's own controller. */
  async removeNode(name: string): Promise<void> {
    this.setDown(name, false);
    await this.asKubelet(() => this.api.delete(Node, { name }, {}));
  }

  /** A node that is down reports nothing, and its pods are not ready. The controller of nodes taints it. */
  setDown(name: string, isDown: boolean): void {
    if (isDown) this.api.down.add(name);
    else this.api.down.delete(name);
    this.putTaint(name, UNREACHABLE, isDown ? 'NoSchedule' : undefined);
    if (!isDown) return;
    const now = toRfc3339(this.clock.now());
    const unready = { type: 'Ready', status: 'False', lastTransitionTime: now } as const;
    const running = { type: 'ContainersReady', status: 'True', lastTransitionTime: now } as const;
    for (const pod of this.pods)
      if (nodeOf(pod) === name && isPodReady(pod))
        this.api.seed(Pod, { ...pod, status: { ...pod.status, conditions: [unready, running] } });
  }

  /** Undefined: no taint any more. */
  taint(name: string, effect: Taint['effect'] | undefined): void {
    this.putTaint(name, 'gpu', effect);
  }

  private putTaint(name: string, key: string, effect: Taint['effect'] | undefined): void {
    const node = this.nodes.find(({ metadata }) => metadata.name === name);
    if (!node) return;
    const others = (node.spec?.taints ?? []).filter((taint) => taint.key !== key);
    this.api.seed<Node>(Node, {
      ...node,
      spec: { taints: [...others, ...(effect ? [{ key, effect }] : [])] },
    });
  }

  async rest(): Promise<void> {
    for (let rounds = 0, before = -1; before !== this.api.writes.length; rounds++) {
      if (rounds > 200) throw new Error('does not come to rest');
      before = this.api.writes.length;
      await this.syncOurs();
      await this.syncGenuine();
      await this.kubelets();
    }
  }

  async syncOurs(): Promise<void> {
    await this.ours.once(REF).finally(() => this.api.count());
  }

  async syncGenuine(): Promise<void> {
    await this.genuine.once(REF).finally(() => this.api.count());
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
    this.api.count();
  }

  /** Starts the pods that can be started, and ends those that were deleted while their node was down. */
  async kubelets(): Promise<void> {
    const known = new Set(this.nodes.map(({ metadata }) => metadata.name));
    for (const pod of this.pods) {
      const node = nodeOf(pod);
      if (this.api.down.has(node)) continue;
      if (isTerminating(pod)) await this.asKubelet(() => this.api.delete(Pod, pod.metadata, {}));
      else if (known.has(node) && !hasStarted(pod)) this.start(pod);
    }
  }

  private start(pod: Pod): void {
    const isBroken = imageOf(pod.spec).includes('broken');
    const now = toRfc3339(this.clock.now());
    this.api.seed(Pod, {
      ...pod,
      metadata: { ...pod.metadata, creationTimestamp: pod.metadata.creationTimestamp ?? now },
      spec: { ...pod.spec, nodeName: nodeOf(pod) },
      status: {
        phase: isBroken ? 'Pending' : 'Running',
        conditions: [{ type: 'Ready', status: isBroken ? 'False' : 'True', lastTransitionTime: now }],
      },
    });
  }

  private async asKubelet(act: () => Promise<unknown>): Promise<void> {
    this.api.isKubelet = true;
    try {
      await act();
    } finally {
      this.api.isKubelet = false;
    }
  }
}

/** A broken one stays as it is. */
function hasStarted(pod: Pod): boolean {
  return isPodReady(pod) || pod.status?.phase === 'Pending';
}

/** The node that a pod is on, or is meant for. */
export function nodeOf({ spec }: Pod): string {
  const { affinity, nodeName } = spec;
  const terms =
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return nodeName ?? terms[0]?.matchFields?.[0]?.values?.[0] ?? '';
}
