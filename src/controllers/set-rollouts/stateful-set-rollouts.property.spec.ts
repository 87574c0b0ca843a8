import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../machinery/clock/index.js';
import { Pod } from '../../machinery/kubernetes/index.js';
import type { AttemptedWrite } from '../../testing/in-memory/in-memory-api.js';
import { propertyRuns } from '../../testing/property-runs.js';
import { refusal } from '../../testing/rollout-world.js';
import { REVISION } from '../deployment/index.js';
import { HELD } from './decide-partition.js';
import { SetLab, imageOf, withImage } from './set-lab.fixture.js';

/*
 * Invariants, for any policies, any order in which the set's controller, the kubelet and the controller of rollouts act, any write
 * at which a process dies, and any changes and requests of a person meanwhile:
 *
 * 1. A version that has not been approved has no more pods than its steps allow, those that a growth in the middle added, and those
 *    that the rollout before it, which it came into the middle of, had been given.
 * 2. Under a freeze no version begins, but for such pods.
 * 3. A pod that is available is deleted for a rollback only while all others are available.
 * 4. Neither the size nor a template that has not failed is ever changed.
 * 5. Once a person wants a version that works, and approves of it, it runs alone in the end, and the set is held again.
 */
const runs = propertyRuns({ gate: 40, nightly: 400 });

const scenario = fc.record({
  seed: fc.integer(),
  replicas: fc.integer({ min: 1, max: 6 }),
  refusals: fc.double({ min: 0, max: 0.2, noNaN: true }),
  onFailure: fc.constantFrom('none', 'hold', 'rollback'),
  failAfter: fc.constantFrom(undefined, '1m'),
  bakeTime: fc.constantFrom(undefined, '3m'),
  podManagementPolicy: fc.constantFrom('OrderedReady' as const, 'Parallel' as const),
});
const change = fc.oneof(
  fc.record({ image: fc.constantFrom('db:1', 'db:2', 'db:3', 'db:broken') }),
  fc.record({ replicas: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ ask: fc.constantFrom('approve', 'abort', 'retry') }),
  fc.record({ freeze: fc.boolean() }),
  fc.record({ minutes: fc.integer({ min: 1, max: 12 }) }),
);
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

const STEPS = '1; approve';

class SetWorld {
  readonly lab: SetLab;
  private readonly random: SeededRandom;
  private isRefusing = false;
  private isOurs = false;
  /** The images that have been allowed beyond their steps, or were there when a freeze began. */
  private readonly allowed = new Set(['db:1']);
  private frozen: ReadonlySet<string> | undefined;
  /** Pods that the version before had been given when another one was asked for. */
  private released = 0;
  /** Pods that a growth added in the middle of a rollout. */
  private grown = 0;

  constructor(private readonly drawn: Scenario) {
    this.random = new SeededRandom(drawn.seed);
    const { bakeTime, failAfter, onFailure, podManagementPolicy, replicas } = drawn;
    const policies = {
      steps: STEPS,
      'on-failure': onFailure,
      ...(failAfter !== undefined && { 'fail-after': failAfter }),
      ...(bakeTime !== undefined && { 'bake-time': bakeTime }),
    };
    this.lab = new SetLab(policies, {
      ...{ replicas, spec: { podManagementPolicy } },
      onWrite: (write) => {
        this.judge(write);
        if (this.isRefusing && this.random.next() < drawn.refusals) throw refusal(500);
      },
    });
  }

  async begin(): Promise<void> {
    await this.lab.rest();
    await this.lab.pass(5 * 60_000);
    this.isRefusing = true;
  }

  async apply(change: Change): Promise<void> {
    if ('minutes' in change) this.lab.clock.move(change.minutes * 60_000);
    else if ('image' in change)
      this.lab.change(({ spec }) => {
        this.released = Math.max(0, (spec.replicas ?? 1) - this.lab.partition);
        spec.template = withImage(spec.template, change.image);
      });
    else if ('replicas' in change)
      this.lab.change(({ spec }) => {
        this.grown += Math.max(0, change.replicas - (spec.replicas ?? 1));
        spec.replicas = change.replicas;
      });
    else this.annotate(change);
    await this.someAct();
  }

  private annotate(change: Extract<Change, { ask: string } | { freeze: boolean }>): void {
    const [name, value] =
      'ask' in change ? [change.ask, 'ann'] : ['freeze', change.freeze ? 'now' : undefined];
    if ('freeze' in change) this.frozen = change.freeze ? new Set(this.begun()) : undefined;
    // An approval counts for what waits at that moment.
    if (value === 'ann' && name !== 'abort') this.allowed.add(imageOf(this.lab.set.spec.template.spec));
    this.lab.change(({ metadata }) => {
      const { [`rollkeeper.dev/${name}`]: _before, ...others } = metadata.annotations ?? {};
      metadata.annotations = value === undefined ? others : { ...others, [`rollkeeper.dev/${name}`]: value };
    });
  }

  /** Some of those that act do so, in any order. */
  private async someAct(): Promise<void> {
    for (let acts = 0; acts < 6; acts++) {
      const next = this.random.next();
      if (next < 0.4) await this.look();
      else if (next < 0.75) await this.lab.syncGenuine().catch(() => undefined);
      else this.lab.kubelet();
      this.judgeVersions();
    }
  }

  /** A process that dies at a write has made those before it. */
  private async look(): Promise<void> {
    this.isOurs = true;
    await this.lab.syncOurs().catch(() => undefined);
    this.isOurs = false;
  }

  /** The revisions whose rollout has begun, with pods or without. */
  private begun(): readonly string[] {
    const revisions = this.lab.revisions.filter(
      ({ metadata }) => metadata.annotations?.[REVISION] !== undefined,
    );
    return [...this.images(), ...revisions.map(({ data }) => imageOf(data?.spec?.template?.spec))];
  }

  private images(): readonly string[] {
    return this.lab.pods.map(({ spec }) => imageOf(spec));
  }

  private judgeVersions(): void {
    const asked = imageOf(this.lab.set.spec.template.spec);
    const images = this.images();
    const count = images.filter((image) => image === asked).length;
    if (!this.allowed.has(asked))
      expect(count, 'rule 1').toBeLessThanOrEqual(Math.max(1, this.released) + this.grown);
    const { frozen } = this;
    const begun = frozen
      ? images.filter((image) => !this.allowed.has(image) && !frozen.has(image)).length
      : 0;
    expect(begun, 'rule 2').toBeLessThanOrEqual(this.released + this.grown);
  }

  private judge({ object, ref, type, verb }: AttemptedWrite): void {
    if (!this.isOurs) return;
    if (type === Pod && verb === 'delete') {
      const { replicas = 1 } = this.lab.set.spec;
      const isReady = (pod: Pod): boolean =>
        pod.status?.conditions?.some(({ status }) => status === 'True') === true;
      const victim = this.lab.pods.find(({ metadata }) => metadata.name === ref.name);
      if (victim && isReady(victim))
        expect(this.lab.pods.filter(isReady).length, 'rule 3').toBeGreaterThanOrEqual(replicas);
    }
    const { spec } = (object ?? {}) as { spec?: { replicas?: number } };
    if (verb === 'update') expect(spec?.replicas, 'rule 4').toBe(this.lab.set.spec.replicas);
    else expect(spec?.replicas, 'rule 4').toBeUndefined();
  }

  /** A person wants a version that works, approves of it, and removes the freeze; nothing fails any more. */
  async settle(image: string): Promise<void> {
    this.isRefusing = false;
    this.frozen = undefined;
    this.allowed.add(image);
    this.lab.change(({ metadata, spec }) => {
      const {
        ['rollkeeper.dev/freeze']: _freeze,
        ['rollkeeper.dev/abort']: _abort,
        ...others
      } = metadata.annotations ?? {};
      metadata.annotations = others;
      spec.template = withImage(spec.template, image);
      spec.replicas = this.drawn.replicas;
    });
    for (let round = 0; round < 6; round++) {
      await this.lab.pass(60_000);
      if (this.lab.says().startsWith('WaitingForApproval')) await this.lab.annotate('approve', 'ann');
    }
    await this.lab.pass(20 * 60_000);
    const version = image.replace('db:', '');
    expect(this.lab.versions, 'rule 5').toBe(Array(this.drawn.replicas).fill(version).join(' '));
    expect(this.lab.partition, 'rule 5').toBe(HELD);
  }
}

describe('StatefulSets under policies', () => {
  it('keep to their rules whatever happens, and end where they should', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(scenario, fc.array(change, { maxLength: 12 }), async (drawn, changes) => {
        const world = new SetWorld(drawn);
        await world.begin();
        for (const each of changes) await world.apply(each);
        await world.settle('db:9');
      }),
      runs,
    );
  });
});
