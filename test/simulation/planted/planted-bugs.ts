import { INTENTS_BUGS } from './intents-bugs.js';
import { LEASE_BUGS } from './lease-bugs.js';
import { LOCK_BUGS } from './lock-bugs.js';
import { QUEUE_BUGS } from './queue-bugs.js';
import type { ModelBug, PlantedBug } from './planted-bug.js';
import { SWITCHES } from './planted-import.js';
import type { SwitchedBugs } from './planted-plugin.js';
import { SLOT_BUGS } from './slot-bugs.js';
import { UNANSWERED_BUGS } from './unanswered-bugs.js';
import { WORLD_BUGS } from './world-bugs.js';

/** Found by the models of test/simulation/model. */
export const MODEL_BUGS: readonly ModelBug[] = [
  ...LEASE_BUGS,
  ...LOCK_BUGS,
  ...INTENTS_BUGS,
  ...QUEUE_BUGS,
  ...UNANSWERED_BUGS,
];

/** Found by the world: one instance of the product has them all. */
export const SWITCHED_BUGS: SwitchedBugs = { name: SWITCHES, bugs: [...WORLD_BUGS, ...SLOT_BUGS] };

export const PLANTED_BUGS: readonly PlantedBug[] = [...MODEL_BUGS, ...WORLD_BUGS, ...SLOT_BUGS];
