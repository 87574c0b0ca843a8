import { FLOOD_SEEDS } from './floods.js';
import { HEAVY_SEEDS } from './heavy.js';
import { KEY_SEEDS } from './keys.js';
import { MALFORMED_SEEDS } from './malformed.js';
import type { Seed } from './seed.js';
import { WARNING_SEEDS } from './warnings.js';

export {
  aDeployment,
  APPLY_PATCH,
  assertNoFault,
  aTemplate,
  DEPLOYMENTS,
  JSON_PATCH,
  JSON_TYPE,
  MERGE_PATCH,
  NAMESPACE,
  nested,
  PODS,
  PROTOBUF_TYPE,
  SeedWorld,
  ServerFault,
  STRATEGIC_PATCH,
  VICTIM,
  YAML_TYPE,
} from './seed.js';
export type { Seed } from './seed.js';

/** Attacks of a single request. A new attack goes into one of these lists. */
export const SINGLE_SEEDS: readonly Seed[] = [
  ...KEY_SEEDS,
  ...MALFORMED_SEEDS,
  ...WARNING_SEEDS,
  ...HEAVY_SEEDS,
];

export const ALL_SEEDS: readonly Seed[] = [...SINGLE_SEEDS, ...FLOOD_SEEDS];
