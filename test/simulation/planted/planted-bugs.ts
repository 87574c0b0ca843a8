import { INTENTS_BUGS } from './intents-bugs.js';
import { LEASE_BUGS } from './lease-bugs.js';
import { LOCK_BUGS } from './lock-bugs.js';
import { QUEUE_BUGS } from './queue-bugs.js';
import type { ModelBug, PlantedBug, WorldBug } from './planted-bug.js';

/** Found by the models of test/simulation/model. */
export const MODEL_BUGS: readonly ModelBug[] = [...LEASE_BUGS, ...LOCK_BUGS, ...INTENTS_BUGS, ...QUEUE_BUGS];

/** Found by the simulated world. */
export const WORLD_BUGS: readonly WorldBug[] = [];

export const PLANTED_BUGS: readonly PlantedBug[] = [...MODEL_BUGS, ...WORLD_BUGS];
