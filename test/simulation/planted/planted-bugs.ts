import { INTENTS_BUGS } from './intents-bugs.js';
import { LEASE_BUGS } from './lease-bugs.js';
import { LOCK_BUGS } from './lock-bugs.js';
import { QUEUE_BUGS } from './queue-bugs.js';
import type { ModelBug, PlantedBug } from './planted-bug.js';
import { UNANSWERED_BUGS } from './unanswered-bugs.js';
import { NOT_FOUND_YET, WORLD_BUGS } from './world-bugs.js';

/** Found by the models of test/simulation/model. */
export const MODEL_BUGS: readonly ModelBug[] = [
  ...LEASE_BUGS,
  ...LOCK_BUGS,
  ...INTENTS_BUGS,
  ...QUEUE_BUGS,
  ...UNANSWERED_BUGS,
];

export const PLANTED_BUGS: readonly PlantedBug[] = [...MODEL_BUGS, ...WORLD_BUGS, ...NOT_FOUND_YET];
