import { DEFAULT_ZONE_LABEL, ZONE_FIRST } from '../../../shared/index.js';
import type { BlueGreenFields } from '../blue-green/settings.js';
import { PREFIX, annotationOf } from '../common/names.js';
import {
  NEEDS_ROLLING_UPDATE,
  type GivenSettings,
  type PolicyProblem,
  type PolicySettings,
} from '../common/settings.js';

/** On a ReplicaSet: the zone whose old pods its rollout has begun to take. */
export const ZONE_BEGUN = `${PREFIX}zone-begun`;
export interface ZoneFields {
  /** The label of nodes by whose values the old pods go one after the other. @default old pods go in any order */
  readonly zoneLabel?: string;
}

/** A name of at most 63 characters, with a DNS name and a slash before it or not. */
const LABEL_NAME = /^([a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;

export const ZONE_SETTINGS: PolicySettings<ZoneFields, BlueGreenFields> = {
  none: {},
  readers: {
    zones: (text) => (text === 'one-by-one' ? undefined : 'is not one-by-one'),
    'zone-label': (text) => (LABEL_NAME.test(text) ? undefined : 'is not the name of a label'),
  },
  combine: ({ blueGreen }, given) => ({
    ...(given.has('zones') && { fields: { zoneLabel: given.textOf('zone-label') ?? DEFAULT_ZONE_LABEL } }),
    problems: problemsOf(given, blueGreen !== undefined),
  }),
  ifWrong: { zones: { zoneLabel: undefined }, 'zone-label': { zoneLabel: undefined } },
  keeps: [ZONE_BEGUN, ZONE_FIRST],
};

function problemsOf(
  { has, problemOf, shape }: GivenSettings,
  isBlueGreen: boolean,
): readonly PolicyProblem[] {
  if (!has('zones'))
    return has('zone-label') ? [problemOf('zone-label', `needs ${annotationOf('zones')}`)] : [];
  if (!shape.isRollingUpdate) return [problemOf('zones', NEEDS_ROLLING_UPDATE)];
  // A budget gives pods one by one, wherever they are.
  if (has('disruption-budgets'))
    return [problemOf('zones', `cannot be combined with ${annotationOf('disruption-budgets')}`)];
  return isBlueGreen
    ? [problemOf('zones', `cannot be combined with ${annotationOf('strategy')}: blue-green`)]
    : [];
}
