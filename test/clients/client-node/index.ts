import type { ClientCheck } from '../check.js';
import { ACCESS_CHECKS } from './access.js';
import { OBJECT_CHECKS } from './objects.js';
import { POD_CHECKS } from './pods.js';
import { WATCH_CHECKS } from './watches.js';

/** The abilities of `@kubernetes/client-node` that are checked. */
export const CLIENT_NODE_CHECKS: readonly ClientCheck[] = [
  ...OBJECT_CHECKS,
  ...WATCH_CHECKS,
  ...ACCESS_CHECKS,
  ...POD_CHECKS,
];
