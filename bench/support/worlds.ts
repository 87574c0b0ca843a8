import { waitFor } from '../../src/testing/wait-for.js';
import { startEmbeddedWorld } from './embedded-world.js';
import { startLightWorld } from './light-world.js';
import type { RolloutWorld } from './rollout-world.js';
import { isRolledOut } from './rollout-world.js';

export type StartWorld = typeof startEmbeddedWorld;

/** The values of `--api`. */
export const WORLD_NAMES = ['light', 'embedded'] as const;
export type WorldName = (typeof WORLD_NAMES)[number];

/** light: an API that is next to free, as if it ran on other machines; embedded: all of `rollkeeper up` on this machine. */
export const WORLDS: Readonly<Record<WorldName, StartWorld>> = {
  light: startLightWorld,
  embedded: startEmbeddedWorld,
};

export function untilRolledOut(world: RolloutWorld, expected: number, image: string): Promise<boolean> {
  const allDone = (): boolean => {
    const known = world.deployments();
    return known.length === expected && known.every((deployment) => isRolledOut(deployment, image));
  };
  return waitFor(allDone, { timeoutMs: 600_000, intervalMs: 10, what: 'all rollouts' });
}
