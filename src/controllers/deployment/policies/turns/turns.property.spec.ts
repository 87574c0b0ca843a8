import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../../client/api-client/api-status-error.js';
import { SeededRandom } from '../../../../machinery/clock/index.js';
import { Deployment, Namespace, ReplicaSet } from '../../../../machinery/kubernetes/index.js';
import type { AttemptedWrite } from '../../../../testing/in-memory/in-memory-api.js';
import { ReconcilerRun } from '../../../../testing/in-memory/run-reconciler.js';
import { aDeployment, setImage } from '../../../../testing/deployment-builder.js';
import { MovedClock } from '../../../../testing/moved-clock.js';
import { P } from '../../../../testing/policy-lab.js';
import { propertyRuns } from '../../../../testing/property-runs.js';
import { RolloutWorld, WORLD_NOW_MS, refusal } from '../../../../testing/rollout-world.js';
import { createDeploymentController } from '../../definition.js';
import { createTurnsController } from '../../turns-controller.js';

/*
 * Invariants, for any number of Deployments in several namespaces, any order of what the controllers do, and any refusals of the API:
 *
 * 1. No version begins while as many others as may at once are rolled out.
 * 2. In the end all have been rolled out.
 */
const runs = propertyRuns({ gate: 25, nightly: 250 });

const scenario = fc.record({
  seed: fc.integer(),
  cluster: fc.integer({ min: 0, max: 3 }),
  namespaced: fc.integer({ min: 1, max: 2 }),
  refusals: fc.double({ min: 0, max: 0.2, noNaN: true }),
  deployments: fc.array(
    fc.record({ namespace: fc.constantFrom('a', 'b'), priority: fc.integer({ min: -1, max: 1 }) }),
    { minLength: 2, maxLength: 6 },
  ),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

class Fleet {
  readonly clock = new MovedClock(WORLD_NOW_MS);
  readonly random: SeededRandom;
  readonly world: RolloutWorld;
  private readonly turns: ReconcilerRun;
  refusing = false;

  constructor(private readonly drawn: Scenario) {
    this.random = new SeededRandom(drawn.seed);
    const [first, ...others] = drawn.deployments.map((each, index) => deploymentOf(each, index));
    if (!first) throw new Error('no Deployment');
    this.world = new RolloutWorld({
      deployment: first,
      random: this.random,
      clock: this.clock,
      controller: createDeploymentController({ maxRollouts: drawn.cluster }),
      onWrite: (write) => {
        this.judge(write);
        if (this.refusing && this.random.next() < drawn.refusals) throw refusal(409);
      },
    });
    const { api } = this.world;
    for (const each of others) api.seed(Deployment, each);
    const annotations = { [`${P}max-rollouts`]: String(drawn.namespaced) };
    for (const name of ['a', 'b'])
      api.seed(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations } });
    const clusterLimit = drawn.cluster || undefined;
    this.turns = new ReconcilerRun(
      createTurnsController({ apis: ['apps/v1'], clusterLimit }),
      api,
      this.clock,
    );
  }

  get all(): Deployment[] {
    return this.world.api.all<Deployment>(Deployment);
  }

  async move(): Promise<void> {
    const choice = Math.floor(this.random.next() * 4);
    if (choice === 0) await this.world.move();
    else if (choice === 1) await this.giveTurns();
    else await this.sync(this.all[Math.floor(this.random.next() * this.all.length)]);
    if (this.random.next() < 0.2) this.clock.move(1000);
  }

  async rest(): Promise<void> {
    for (let before = -1; before !== this.world.api.changes;) {
      before = this.world.api.changes;
      for (const each of this.all) await this.sync(each);
      await this.giveTurns();
      await this.world.settle();
    }
  }

  roll(image: string): void {
    for (const { metadata } of this.all) {
      const deployment = structuredClone(this.find(metadata.name));
      setImage(deployment, image);
      deployment.metadata.generation = (deployment.metadata.generation ?? 1) + 1;
      this.world.api.seed(Deployment, deployment);
    }
  }

  /** The versions that run, by Deployment. */
  get running(): string[] {
    return this.all.map(({ metadata }) =>
      this.setsOf(metadata.name)
        .filter(({ spec }) => (spec.replicas ?? 1) > 0)
        .map(imageOf)
        .join('+'),
    );
  }

  private find(name: string): Deployment {
    const found = this.all.find(({ metadata }) => metadata.name === name);
    if (!found) throw new Error(`no Deployment ${name}`);
    return found;
  }

  private async sync(deployment: Deployment | undefined): Promise<void> {
    if (deployment) await this.world.sync(deployment.metadata).catch(ignoreRefusal);
  }

  private async giveTurns(): Promise<void> {
    await this.turns.once({ name: 'turns' }).catch(ignoreRefusal);
  }

  private setsOf(name: string): ReplicaSet[] {
    const { uid } = this.find(name).metadata;
    return this.world.replicaSets.filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid);
  }

  private isRolling({ metadata }: Deployment): boolean {
    const active = this.setsOf(metadata.name).filter(({ spec }) => (spec.replicas ?? 1) > 0);
    return active.length > 1;
  }

  /** Rule 1. */
  private judge({ object, type, verb }: AttemptedWrite): void {
    if (type !== ReplicaSet || verb !== 'create') return;
    const { metadata } = object as ReplicaSet;
    const owner = this.all.find(({ metadata: { uid } }) => uid === metadata.ownerReferences?.[0]?.uid);
    if (!owner || this.setsOf(owner.metadata.name).length === 0) return;
    const rolling = this.all.filter((each) => each !== owner && this.isRolling(each));
    const beside = rolling.filter((each) => each.metadata.namespace === owner.metadata.namespace);
    expect(beside.length, 'rule 1, in the namespace').toBeLessThan(this.drawn.namespaced);
    if (this.drawn.cluster > 0)
      expect(rolling.length, 'rule 1, in the cluster').toBeLessThan(this.drawn.cluster);
  }
}

function deploymentOf({ namespace, priority }: Scenario['deployments'][number], index: number): Deployment {
  const name = `web${index}`;
  const base = aDeployment({ replicas: 3, annotations: { [`${P}rollout-priority`]: String(priority) } });
  const labels = { app: name };
  const template = { ...base.spec.template, metadata: { labels } };
  return {
    ...base,
    metadata: { ...base.metadata, name, namespace, uid: `uid-of-${name}` },
    spec: { ...base.spec, selector: { matchLabels: labels }, template },
  };
}

function imageOf({ spec }: ReplicaSet): string {
  return spec.template?.spec?.containers[0]?.image ?? '';
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ApiStatusError)) throw error;
}

describe(`rollouts of many Deployments under limits (SEED=${runs.seed})`, () => {
  it('never begin beside as many others as may be under way, and all have their turn', async () => {
    const property = fc.asyncProperty(scenario, async (drawn) => {
      const fleet = new Fleet(drawn);
      await fleet.rest();
      fleet.refusing = true;
      for (const image of ['app:2', 'app:3']) {
        fleet.roll(image);
        for (let moves = 0; moves < 150; moves++) await fleet.move();
      }
      fleet.refusing = false;
      await fleet.rest();
      expect(fleet.running, 'rule 2').toEqual(drawn.deployments.map(() => 'app:3'));
      const left = fleet.all.filter(({ metadata }) => metadata.annotations?.[`${P}turn`] !== undefined);
      expect(left).toEqual([]);
    });
    await fc.assert(property, runs);
  });
});
