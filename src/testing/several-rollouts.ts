import { SeededRandom } from '@rollkeeper/machinery/clock';
import { Deployment, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { aDeployment, setImage, type DeploymentShape } from './deployment-builder.js';
import type { AttemptedWrite } from './in-memory/in-memory-api.js';
import { MovedClock } from './moved-clock.js';
import { P, imageOf } from './policy-lab.js';
import { RolloutWorld, WORLD_NOW_MS } from './rollout-world.js';

/** A Deployment of {@link SeveralRollouts}: its policies without the prefix, and its shape. */
export interface NamedRollout {
  readonly name: string;
  readonly policies?: Readonly<Record<string, string>>;
  readonly shape?: DeploymentShape;
}

/** Several Deployments of one namespace, in the order in which the controller sees them. Each begins with `app:1`. */
export class SeveralRollouts {
  readonly clock = new MovedClock(WORLD_NOW_MS);
  readonly world: RolloutWorld;
  /** Called before each write of the controller; what it throws is the API's answer. */
  onWrite: (write: AttemptedWrite) => void = () => undefined;

  private constructor([first, ...others]: readonly NamedRollout[]) {
    if (!first) throw new Error('no Deployment');
    this.world = new RolloutWorld({
      deployment: deploymentOf(first),
      random: new SeededRandom(1),
      clock: this.clock,
      onWrite: (write) => this.onWrite(write),
    });
    for (const each of others) this.add(each);
  }

  /** They are there, and nothing has looked at them yet. */
  static unseen(...rollouts: readonly NamedRollout[]): SeveralRollouts {
    return new SeveralRollouts(rollouts);
  }

  /** They have rolled out `app:1`. */
  static async rolledOut(...rollouts: readonly NamedRollout[]): Promise<SeveralRollouts> {
    const lab = new SeveralRollouts(rollouts);
    await lab.rest();
    return lab;
  }

  add(rollout: NamedRollout): void {
    this.world.api.seed(Deployment, deploymentOf(rollout));
  }

  /** Changes a Deployment as `kubectl apply` does: the image and the policies in one write. No sync follows. */
  apply(
    name: string,
    image: string | undefined,
    policies: Readonly<Record<string, string | undefined>> = {},
  ): void {
    const deployment = structuredClone(this.find(name));
    const { metadata } = deployment;
    if (image !== undefined) {
      setImage(deployment, image);
      metadata.generation = (metadata.generation ?? 1) + 1;
    }
    const annotations = { ...metadata.annotations };
    for (const [key, value] of Object.entries(policies)) {
      delete annotations[P + key];
      if (value !== undefined) annotations[P + key] = value;
    }
    metadata.annotations = annotations;
    this.world.api.seed(Deployment, deployment);
  }

  async sync(name: string): Promise<void> {
    await this.world.sync(this.find(name).metadata);
  }

  /** All do what there is to do, until nothing changes. */
  async rest(): Promise<void> {
    for (let before = -1; before !== this.world.api.changes;) {
      before = this.world.api.changes;
      for (const { metadata } of this.world.api.all<Deployment>(Deployment)) await this.sync(metadata.name);
      await this.world.settle();
    }
  }

  async pass(ms: number): Promise<void> {
    this.clock.move(ms);
    await this.rest();
  }

  find(name: string): Deployment {
    const found = this.world.api.all<Deployment>(Deployment).find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`no Deployment ${name}`);
    return found;
  }

  /** The images that run, by Deployment; those of several versions with `+` between. */
  get running(): Record<string, string> {
    const all = this.world.api.all<Deployment>(Deployment);
    return Object.fromEntries(
      all.map(({ metadata }) => [metadata.name, this.imagesOf(metadata.name).join('+')]),
    );
  }

  condition(name: string, type = 'Progressing'): string {
    const found = this.find(name).status?.conditions?.find((condition) => condition.type === type);
    return found ? `${found.status} ${found.reason} ${found.message}` : 'none';
  }

  annotation(name: string, setting: string): string | undefined {
    return this.find(name).metadata.annotations?.[P + setting];
  }

  private imagesOf(name: string): string[] {
    const { uid } = this.find(name).metadata;
    return this.world.api
      .all<ReplicaSet>(ReplicaSet)
      .filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid)
      .filter(({ spec }) => (spec.replicas ?? 1) > 0)
      .map(imageOf);
  }
}

function deploymentOf({ name, policies = {}, shape }: NamedRollout): Deployment {
  const annotations = Object.fromEntries(Object.entries(policies).map(([key, value]) => [P + key, value]));
  const deployment = aDeployment({ replicas: 2, annotations, ...shape });
  const labels = { app: name };
  const { template } = deployment.spec;
  return {
    ...deployment,
    metadata: { ...deployment.metadata, name, uid: `uid-of-${name}`, labels },
    spec: {
      ...deployment.spec,
      selector: { matchLabels: labels },
      template: { ...template, metadata: { labels } },
    },
  };
}
