import type { Model, Step } from './explorer.js';
import { QueueWorld } from './queue.world.js';

/*
 * One key on its way through the product's own queue in memory, its activations, stored causes and outcomes. These hold
 * their state themselves, so that a state is the actions that lead to it, and each step plays them again.
 */

export interface QueueState {
  /** The indexes of the actions since the beginning. */
  readonly path: readonly number[];
  readonly text: string;
  readonly violation: string | undefined;
  readonly isAtRest: boolean;
}

/** @param changes how many are made of the key's object */
export async function queueModel(faults: number, changes: number): Promise<Model<QueueState>> {
  const play = async (path: readonly number[]): Promise<QueueWorld> => {
    const world = new QueueWorld(changes, faults);
    await world.begin();
    await settled();
    for (const index of path) {
      await (await world.actions())[index]?.run();
      await settled();
    }
    return world;
  };
  const stateOf = async (world: QueueWorld, path: readonly number[]): Promise<QueueState> => {
    const [text, isAtRest] = [await world.fingerprint(), await world.isAtRest()];
    return { path, text, violation: world.violation, isAtRest };
  };
  return {
    name: 'queue',
    initial: await stateOf(await play([]), []),
    steps: async ({ path }) => {
      const steps: Step<QueueState>[] = [];
      const actions = await (await play(path)).actions();
      for (const [index, { isFault, says }] of actions.entries()) {
        const next = [...path, index];
        steps.push({ says, to: await stateOf(await play(next), next), isFault });
      }
      return steps;
    },
    fingerprint: ({ text }) => text,
    violation: ({ violation }) => violation,
    goal: {
      says: 'every change is seen by a run that ends well',
      isReached: ({ isAtRest }) => isAtRest,
    },
  };
}

/** Everything that is resolved has had its consequences. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
