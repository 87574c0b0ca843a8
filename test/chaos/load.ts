import type { ApiClient } from '../../src/client/api-client/index.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import type { AcknowledgedChange } from './acknowledged-changes.js';
import { AcknowledgedChanges } from './acknowledged-changes.js';
import type { PolicyNeed } from './policy-world.js';
import type { Shape } from './shapes.js';
import { MESHED } from './mesh.js';
import { LOAD_NAMESPACE, namespaceAt } from './namespaces.js';
import { ROOM_FIRST, SHAPES } from './shapes.js';
import type { SeededRandom } from './random.js';

export interface LoadOptions {
  readonly client: ApiClient;
  readonly random: SeededRandom;
  readonly deployments: number;
  /** Between two changes, on average. */
  readonly pauseMs: number;
  /** `plain`: without policies, of which an earlier release does not know all. @default 'all' */
  readonly shapes?: 'all' | 'plain';
  /** Over which the Deployments are spread. @default 'default' alone */
  readonly namespaces?: readonly string[];
}

/** Users: they create, update, scale, pause, undo and delete Deployments, one change per name at a time. */
export class Load {
  private readonly changes: AcknowledgedChanges;
  private readonly busy = new Set<string>();
  private readonly underWay = new Set<Promise<void>>();
  private running: Promise<void> | undefined;
  private stopping = false;
  private serial = 0;
  /** The last release of each name. */
  private readonly releases = new Map<string, string>();

  constructor(private readonly options: LoadOptions) {
    this.changes = new AcknowledgedChanges(options.client, (name) => this.namespaceOf(name));
  }

  get counts(): AcknowledgedChanges['counts'] {
    return this.changes.counts;
  }

  start(): void {
    this.stopping = false;
    this.running = this.run();
  }

  /** No more changes; those under way are awaited, and what is paused goes on. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.running;
    await Promise.all(this.underWay);
    for (const name of this.names) await this.settle(name);
  }

  /** The last confirmed change of each name. */
  last(): Iterable<AcknowledgedChange> {
    return this.changes.last();
  }

  /** The objects that there must be beside the Deployments, by their names. */
  get needs(): ReadonlyMap<string, PolicyNeed> {
    return new Map(
      this.names.flatMap((name) => {
        const { need } = this.shapeOf(name);
        return need ? [[name, need] as const] : [];
      }),
    );
  }

  /** The namespace of a Deployment; one that follows another is where that one is. */
  namespaceOf(name: string): string {
    const { namespaces = [LOAD_NAMESPACE] } = this.options;
    const index = indexOf(name);
    return namespaceAt(namespaces, this.shapeOf(name).follows ? index - 1 : index);
  }

  private shapeOf(name: string): Shape {
    const { shapes = 'all' } = this.options;
    const chosen = shapes === 'all' ? SHAPES : SHAPES.filter(({ policies }) => policies === undefined);
    return chosen[indexOf(name) % chosen.length] as Shape;
  }

  private get names(): readonly string[] {
    return Array.from({ length: this.options.deployments }, (_, index) => `load-${index}`);
  }

  private async run(): Promise<void> {
    const { pauseMs, random } = this.options;
    while (!this.stopping) {
      const name = random.pick(this.names);
      if (!this.busy.has(name)) {
        const change = this.change(name).finally(() => {
          this.busy.delete(name);
          this.underWay.delete(change);
        });
        this.busy.add(name);
        this.underWay.add(change);
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs * 2 * random.next()));
    }
  }

  private async change(name: string): Promise<void> {
    if (this.changes.lastOf(name)?.isUncertain) await this.changes.lookAgain(name);
    const known = this.changes.lastOf(name);
    if (known?.isUncertain) return;
    if (!known?.wish) return this.create(name);
    const { random } = this.options;
    const dice = random.next();
    if (known.wish.paused && dice < 0.5)
      return this.changes.patch(name, 'resume', { spec: { paused: false } });
    if (this.shapeOf(name).policies?.['steps'] && random.next() < 0.3) return this.approve(name);
    if (dice < 0.45) return this.update(name);
    if (dice < 0.7)
      return this.changes.patch(name, 'scale', {
        spec: { replicas: random.whole(0, this.shapeOf(name).mostReplicas) },
      });
    if (dice < 0.8) return this.changes.patch(name, 'pause', { spec: { paused: true } });
    if (dice < 0.92) return this.changes.undo(name);
    return this.changes.delete(name);
  }

  private create(name: string): Promise<void> {
    const { random } = this.options;
    const shape = this.shapeOf(name);
    const { minReadySeconds, mostReplicas, need, placement, policies = {}, strategy } = shape;
    const replicas = random.whole(1, mostReplicas);
    const object = aDeployment({
      ...this.changes.refOf(name),
      replicas,
      image: this.nextImage(),
      strategy,
      minReadySeconds,
    });
    object.metadata.annotations = annotationsOf({
      ...policies,
      ...this.orderOf(name),
      ...(policies['strategy'] === 'blue-green' && { 'active-service': name }),
      ...(need === 'route' && { traffic: `httproute/${name}` }),
    });
    Object.assign(object.spec.template.spec ?? {}, placement);
    if (shape.meshed) Object.assign(object.spec.template.metadata?.labels ?? {}, MESHED);
    return this.changes.create(name, object);
  }

  private update(name: string): Promise<void> {
    const { broken = 0, placement, policies = {}, rejected = 0, resized = 0, strategy } = this.shapeOf(name);
    const { random } = this.options;
    if (random.next() < resized) return this.resize(name);
    const image = random.next() < broken ? `${this.nextImage()}-broken` : this.nextImage();
    const body = withImage(image, { ...policies, ...this.orderOf(name) });
    Object.assign(body.spec.template.spec, placement);
    if (placement) Object.assign(body.spec, { strategy });
    if (rejected > 0) behave(body.spec.template, random.next() < rejected ? 'reject' : null);
    return this.changes.patch(name, 'update', body);
  }

  /** The last change of a Deployment, after which nothing holds it, and its pods work. */
  private updateLast(name: string): Promise<void> {
    const { follows, placement = {}, rejected, resized } = this.shapeOf(name);
    if (resized) return this.resize(name, 'last update');
    const isAlone = this.changes.lastOf(predecessorOf(name))?.wish === undefined;
    const order = { ...this.orderOf(name), ...(follows && isAlone && { after: null }) };
    const body = withImage(this.nextImage(), { ...order, steps: null });
    for (const field of Object.keys(placement)) Object.assign(body.spec.template.spec, { [field]: null });
    // Old pods keep new ones off their nodes by the anti-affinity of their own: one of them may go first.
    if (Object.keys(placement).length > 0) Object.assign(body.spec, { strategy: ROOM_FIRST });
    if (rejected) behave(body.spec.template, null);
    return this.changes.patch(name, 'last update', body);
  }

  /** A new release of what others follow; what follows is of the release of its predecessor. */
  private orderOf(name: string): Record<string, string> {
    if (this.shapeOf(name).follows) {
      const release = this.releases.get(predecessorOf(name)) ?? 'none';
      return { release, after: `deployment/${predecessorOf(name)}@complete` };
    }
    if (!this.shapeOf(followerOf(name)).follows) return {};
    const release = `r${++this.serial}`;
    this.releases.set(name, release);
    return { release };
  }

  private resize(name: string, operation = 'resize'): Promise<void> {
    const cpu = `${this.options.random.whole(1, 9)}00m`;
    const template = { spec: { containers: [{ name: 'web', resources: { requests: { cpu } } }] } };
    return this.changes.patch(name, operation, { spec: { template } });
  }

  private approve(name: string): Promise<void> {
    const annotations = annotationsOf({ approve: 'chaos' });
    return this.changes.patch(name, 'approve', { metadata: { annotations } });
  }

  private async settle(name: string): Promise<void> {
    let isSimple = this.shapeOf(name).policies === undefined && !this.shapeOf(followerOf(name)).follows;
    for (;;) {
      if (this.changes.lastOf(name)?.isUncertain) await this.changes.lookAgain(name);
      const known = this.changes.lastOf(name);
      if (known && !known.isUncertain && known.wish?.paused)
        await this.changes.patch(name, 'resume', { spec: { paused: false } });
      else if (known && !known.isUncertain && known.wish && !isSimple) {
        await this.updateLast(name);
        isSimple = this.changes.lastOf(name)?.isUncertain === false;
      }
      const now = this.changes.lastOf(name);
      if (!now || (!now.isUncertain && !now.wish?.paused && (isSimple || !now.wish))) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  private nextImage(): string {
    this.serial += 1;
    return `web:${this.serial}`;
  }
}

/** Undoes nothing that another has set, and says again what the policies are. */
function withImage(image: string, policies: Readonly<Record<string, string | null>>) {
  const template: TemplatePatch = { spec: { containers: [{ name: 'web', image }] } };
  return { metadata: { annotations: annotationsOf(policies) }, spec: { template } };
}

interface TemplatePatch {
  metadata?: { readonly annotations: Readonly<Record<string, string | null>> };
  readonly spec: { readonly containers: readonly object[] };
}

/** @param behaviour what the simulated node does with the pods; null: it runs them */
function behave(template: TemplatePatch, behaviour: string | null): void {
  template.metadata = { annotations: { 'node.rollkeeper.dev/behaviour': behaviour } };
}

function indexOf(name: string): number {
  return Number(name.split('-')[1]);
}

const predecessorOf = (name: string): string => `load-${indexOf(name) - 1}`;
const followerOf = (name: string): string => `load-${indexOf(name) + 1}`;

function annotationsOf<T extends string | null>(policies: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(policies).map(([name, value]) => [`rollkeeper.dev/${name}`, value]),
  );
}
