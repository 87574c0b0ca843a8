import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../../client/api-client/api-status-error.js';
import { SeededRandom } from '../../../../machinery/clock/index.js';
import { Deployment, ReplicaSet } from '../../../../machinery/kubernetes/index.js';
import type { AttemptedWrite } from '../../../../testing/in-memory/in-memory-api.js';
import { imageOf } from '../../../../testing/policy-lab.js';
import { propertyRuns } from '../../../../testing/property-runs.js';
import { refusal } from '../../../../testing/rollout-world.js';
import { SeveralRollouts } from '../../../../testing/several-rollouts.js';

/*
 * Invariants, for any Deployments that follow each other without a circle, any order in which their changes are applied and seen, and
 * any refusals of the API:
 *
 * 1. No version begins while one before it, of the same change, is not complete.
 * 2. In the end all have been rolled out.
 */
const runs = propertyRuns({ gate: 20, nightly: 200 });

const scenario = fc.record({
  seed: fc.integer(),
  refusals: fc.double({ min: 0, max: 0.2, noNaN: true }),
  hasRelease: fc.boolean(),
  /** For each Deployment, which of those before it in the list it follows. */
  follows: fc.array(fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }), { minLength: 2, maxLength: 5 }),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

const NEW = 'app:2';

class Chain {
  readonly random: SeededRandom;
  private readonly before: ReadonlyMap<string, readonly string[]>;
  private isRefusing = false;

  private constructor(
    private readonly drawn: Scenario,
    private readonly lab: SeveralRollouts,
  ) {
    this.random = new SeededRandom(drawn.seed);
    this.before = new Map(namesOf(drawn).map((name, index) => [name, predecessors(drawn, index)]));
    lab.onWrite = (write) => {
      this.judge(write);
      if (this.isRefusing && this.random.next() < drawn.refusals) throw refusal(409);
    };
  }

  static async rolledOut(drawn: Scenario): Promise<Chain> {
    const all = namesOf(drawn).map((name, index) => {
      const after = predecessors(drawn, index).join(', ');
      const policies = { ...(after !== '' && { after }), ...(drawn.hasRelease && { release: 'one' }) };
      return { name, policies };
    });
    const chain = new Chain(drawn, await SeveralRollouts.rolledOut(...all));
    await chain.lab.pass(60_000);
    return chain;
  }

  /** All change, in any order, and the controller looks at any of them meanwhile; without a release, within the time of the settle. */
  async change(): Promise<void> {
    this.isRefusing = true;
    for (const name of this.shuffled()) {
      this.lab.apply(name, NEW, this.drawn.hasRelease ? { release: 'two' } : {});
      for (let moves = Math.floor(this.random.next() * 6); moves > 0; moves--) await this.move();
      if (this.random.next() < 0.5) this.lab.clock.move(this.drawn.hasRelease ? 60_000 : 1000);
    }
    for (let moves = 0; moves < 60; moves++) await this.move();
    this.isRefusing = false;
  }

  async end(): Promise<Record<string, string>> {
    await this.lab.rest();
    await this.lab.pass(20_000);
    return this.lab.running;
  }

  private async move(): Promise<void> {
    const names = namesOf(this.drawn);
    if (this.random.next() < 0.4) return this.lab.world.settle();
    const name = names[Math.floor(this.random.next() * names.length)] ?? '';
    await this.lab.sync(name).catch(ignoreRefusal);
  }

  private shuffled(): readonly string[] {
    return namesOf(this.drawn)
      .map((name) => ({ name, at: this.random.next() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ name }) => name);
  }

  /** Rule 1. */
  private judge({ object, type, verb }: AttemptedWrite): void {
    if (type !== ReplicaSet || verb !== 'create') return;
    const created = object as ReplicaSet;
    if (imageOf(created) !== NEW) return;
    const all = this.lab.world.api.all<Deployment>(Deployment);
    const owner = all.find(({ metadata }) => metadata.uid === created.metadata.ownerReferences?.[0]?.uid);
    for (const name of this.before.get(owner?.metadata.name ?? '') ?? []) {
      const { spec, status } = this.lab.find(name);
      const image = spec.template.spec?.containers[0]?.image;
      expect(image, `rule 1, ${owner?.metadata.name} after ${name}`).toBe(NEW);
      expect(status?.updatedReplicas, `rule 1, ${name} is complete`).toBe(spec.replicas);
    }
  }
}

function namesOf({ follows }: Scenario): readonly string[] {
  return follows.map((_, index) => `d${index}`);
}

function predecessors({ follows }: Scenario, index: number): readonly string[] {
  return (follows[index] ?? []).flatMap((isAfter, other) => (isAfter && other < index ? [`d${other}`] : []));
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ApiStatusError)) throw error;
}

describe(`rollouts in an order (SEED=${runs.seed})`, () => {
  it('never overtake each other, and all end', async () => {
    const property = fc.asyncProperty(scenario, async (drawn) => {
      const chain = await Chain.rolledOut(drawn);
      await chain.change();
      expect(await chain.end()).toEqual(Object.fromEntries(namesOf(drawn).map((name) => [name, NEW])));
    });
    await fc.assert(property, runs);
  });
});
