import type { ControllerDefinition } from '@rollkeeper/runtime';
import { evictionController, evictionRequestController } from './eviction-request-controllers.js';
import { imperativeEvictionResponder } from './imperative-responder.js';

/** The controllers of evictions by request that a cluster with that feature has: a preview. */
export const EVICTION_REQUEST_CONTROLLERS: readonly ControllerDefinition[] = [
  evictionRequestController,
  evictionController,
  imperativeEvictionResponder,
];
