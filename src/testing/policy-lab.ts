import type { Deployment, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import type { ControllerDefinition } from '../runtime/controller/controller-definition.js';
import { SeededRandom } from '@rollkeeper/machinery/clock';
import type { DeploymentShape } from './deployment-builder.js';
import { aDeployment, setImage } from './deployment-builder.js';
import { JudgedRollout } from './judged-rollout.js';
import { MovedClock } from './moved-clock.js';
import { WORLD_NOW_MS } from './rollout-world.js';

/** The prefix of the policies' annotations. */
export const P = 'rollkeeper.dev/';
export const MINUTE_MS = 60_000;
/** Later than the progress deadline of {@link aDeployment}. */
export const PAST_DEADLINE_MS = 601_000;

interface LabSetUp {
  /** @default the Deployment controller with its defaults */
  readonly controller?: ControllerDefinition;
  /** Puts what else there is into the world, before the first sync. */
  readonly prepare?: (lab: PolicyLab) => void;
}

/** A Deployment that has rolled out `app:1`, under these policies. */
export class PolicyLab {
  readonly clock = new MovedClock(WORLD_NOW_MS);
  readonly world: JudgedRollout;

  private constructor(policies: Record<string, string>, shape: DeploymentShape, { controller }: LabSetUp) {
    const annotations = Object.fromEntries(
      Object.entries(policies).map(([name, value]) => [P + name, value]),
    );
    this.world = new JudgedRollout({
      deployment: aDeployment({ annotations, ...shape }),
      random: new SeededRandom(1),
      clock: this.clock,
      controller,
    });
  }

  static async rolledOut(
    policies: Record<string, string>,
    shape: DeploymentShape = {},
    setUp: LabSetUp = {},
  ): Promise<PolicyLab> {
    const lab = new PolicyLab(policies, shape, setUp);
    setUp.prepare?.(lab);
    await lab.rest();
    return lab;
  }

  get deployment(): Deployment {
    return this.world.deployment;
  }

  /** All do what there is to do, until nothing changes. */
  async rest(): Promise<void> {
    for (let before = -1; before !== this.world.api.changes;) {
      before = this.world.api.changes;
      await this.world.sync();
      await this.world.settle();
    }
  }

  /** Time passes, and the pass comes that was asked for. */
  async pass(ms: number): Promise<void> {
    this.clock.move(ms);
    await this.rest();
  }

  async image(image: string): Promise<void> {
    this.world.change((deployment) => setImage(deployment, image));
    await this.rest();
  }

  async annotate(name: string, value: string | undefined): Promise<void> {
    this.world.change(({ metadata }) => {
      const { [P + name]: _before, ...others } = metadata.annotations ?? {};
      metadata.annotations = value === undefined ? others : { ...others, [P + name]: value };
    });
    await this.rest();
  }

  async scale(replicas: number): Promise<void> {
    this.world.change(({ spec }) => void (spec.replicas = replicas));
    await this.rest();
  }

  /** By image, those with pods. */
  get sizes(): Record<string, number> {
    const active = this.world.replicaSets.filter(({ spec }) => (spec.replicas ?? 1) > 0);
    return Object.fromEntries(active.map((set) => [imageOf(set), set.spec.replicas ?? 1]));
  }

  get imageAsked(): string | undefined {
    return this.deployment.spec.template.spec?.containers[0]?.image;
  }

  condition(type = 'Progressing'): string {
    const found = this.deployment.status?.conditions?.find((condition) => condition.type === type);
    return found ? `${found.status} ${found.reason} ${found.message}` : 'none';
  }

  annotation(name: string): string | undefined {
    return this.deployment.metadata.annotations?.[P + name];
  }

  replicaSet(image: string): ReplicaSet {
    const found = this.world.replicaSets.find((set) => imageOf(set) === image);
    if (!found) throw new Error(`no ReplicaSet of ${image}`);
    return found;
  }

  isGood(image: string): boolean {
    return this.replicaSet(image).metadata.annotations?.[`${P}good-since`] !== undefined;
  }

  eventsOf(...reasons: string[]): string[] {
    return this.world.events.filter((event) => reasons.includes(event.split(' ')[1] ?? ''));
  }
}

export function imageOf({ spec }: ReplicaSet): string {
  return spec.template?.spec?.containers[0]?.image ?? '';
}
