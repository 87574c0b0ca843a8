import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { WorkItem } from '@rollkeeper/runtime/work-queue';
import type {
  MakeWorkQueueHarness,
  TestedWorkQueue as WorkQueue,
  WorkQueueHarness,
} from './work-queue-harness.js';

type Action =
  | { readonly kind: 'add'; readonly key: number; readonly priority: 'high' | 'normal' | 'low' }
  | { readonly kind: 'addAfter'; readonly key: number; readonly delayMs: number }
  | { readonly kind: 'pass'; readonly ms: number };

/** How thorough to be; `endOnFailure` if time is real and shrinking would take too long. */
export type PropertyParameters = { readonly numRuns: number; readonly endOnFailure?: boolean };

const KEYS = 4;

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      key: fc.nat(KEYS - 1),
      priority: fc.constantFrom('high', 'normal', 'low'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('addAfter' as const),
      key: fc.nat(KEYS - 1),
      delayMs: fc.integer({ min: 1, max: 40 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 15 }) }),
  },
);

/**
 * The world that random actions act upon. A version per key counts its changes. Invariants:
 *
 * 1. a key is never inside two handlers;
 * 2. after the last add of a key, immediate or delayed, a run starts that sees the key's final version;
 * 3. in the end nothing waits, is delayed or runs.
 */
class World {
  readonly versions = new Map<string, number>();
  readonly seen = new Map<string, number>();
  readonly violations: string[] = [];
  private readonly inside = new Set<string>();
  private turn = 0;

  constructor(
    private readonly queue: WorkQueue,
    private readonly outcomes: readonly number[],
    private readonly workFor: (ms: number) => Promise<void>,
  ) {}

  async change(key: string, add: () => Promise<void>): Promise<void> {
    this.versions.set(key, (this.versions.get(key) ?? 0) + 1);
    await add();
  }

  async handle(item: WorkItem): Promise<void> {
    if (this.inside.has(item.key)) this.violations.push(`${item.key} is worked on twice at the same time`);
    this.inside.add(item.key);
    // A reconciler reads the world when it starts.
    const version = this.versions.get(item.key) ?? 0;
    const outcome = this.outcomes[this.turn++ % this.outcomes.length] ?? 0;
    await this.workFor(outcome);
    this.inside.delete(item.key);
    if (outcome % 3 === 0 && item.retries < 3) {
      await this.queue.addRateLimited(item.key, new Error('failed'));
      return;
    }
    this.seen.set(item.key, version);
    await this.queue.forget(item.key);
  }

  /** Whether a successful run has seen every key's final version. */
  get settled(): boolean {
    return [...this.versions].every(([key, version]) => this.seen.get(key) === version);
  }
}

/** A change was to come when a retry was; a run that ended well dropped both. */
const CHANGE_JOINS_RETRY: [Action[], number[], number] = [
  [
    { kind: 'addAfter', key: 2, delayMs: 1 },
    { kind: 'pass', ms: 7 },
    { kind: 'add', key: 2, priority: 'high' },
    { kind: 'addAfter', key: 2, delayMs: 8 },
    { kind: 'pass', ms: 1 },
  ],
  [0],
  1,
];

/** Random adds, delays, failures and consumers; the seed is in the failure's message. */
export function workQueueProperties(make: MakeWorkQueueHarness, parameters: PropertyParameters): void {
  it('loses no change and works on no key twice at once, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 5, maxLength: 40 }),
        fc.array(fc.nat(11), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 3 }),
        async (actions, outcomes, consumers) => {
          const harness = await make({ backoffBaseMs: 2, bucketBurst: 1000, maxRetries: 5 });
          try {
            await play(harness, actions, outcomes, consumers);
          } finally {
            await harness.close();
          }
        },
      ),
      { verbose: 1, examples: [CHANGE_JOINS_RETRY], ...parameters },
    );
  });
}

async function play(
  harness: WorkQueueHarness,
  actions: readonly Action[],
  outcomes: readonly number[],
  consumers: number,
): Promise<void> {
  const queue = harness.queue();
  const world = new World(queue, outcomes, (ms) => harness.workFor(ms));
  const stop = new AbortController();
  const runs = Array.from({ length: consumers }, () =>
    harness.consumer().run((item) => world.handle(item), { concurrency: 2 }, stop.signal),
  );
  for (const step of actions) await act(harness, queue, world, step);
  await harness.until(async () => {
    const { waiting, active, delayed } = await queue.counts();
    return world.settled && waiting + active + delayed === 0;
  });
  stop.abort();
  await Promise.all(runs);
  expect(world.violations).toEqual([]);
}

async function act(harness: WorkQueueHarness, queue: WorkQueue, world: World, step: Action): Promise<void> {
  if (step.kind === 'pass') return harness.pass(step.ms);
  const key = `ns/key-${step.key}`;
  if (step.kind === 'add') return world.change(key, () => queue.add(key, { priority: step.priority }));
  return world.change(key, () => queue.addAfter(key, step.delayMs));
}
