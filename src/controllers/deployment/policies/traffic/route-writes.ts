import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { RouteChange, RouteWrite } from '../common/route-write.js';
import type { Share } from '../common/share.js';
import type { TrafficServices } from '../common/steered-services.js';
import { isAt, weightsAt, type ManagedRule } from './managed-rules.js';
import {
  NO_PARTS,
  addedRulesOf,
  backendFiltersOf,
  filtersOf,
  hasFilters,
  hasRules,
  neededRules,
  type OwnParts,
} from './own-parts.js';
import type { RouteFilter, WeightedRoute } from './route-part.js';
import type { RouteWord } from './settings.js';
import { noteChanges, noteFor, noteOn } from './steered-note.js';

/** The wanted state of the routes of a Deployment. */
export interface Wanted {
  readonly deployment: string;
  readonly percent: number;
  readonly services: TrafficServices;
  /** @default what they have */
  readonly parts: OwnParts | undefined;
  readonly isFirst: boolean;
}

/** The writes that give the routes of these rules a share, and the parts that go with it: one for each route that differs. */
export function routeWrites(rules: readonly ManagedRule[], wanted: Wanted): readonly RouteWrite[] {
  return [...Map.groupBy(rules, ({ route }) => route)].flatMap(([route, own]) => {
    const changes = [
      ...own.flatMap((rule) => weightChanges(rule, wanted.percent)),
      ...own.flatMap((rule) => filterChanges(rule, wanted)),
      ...ruleChanges(route, own, wanted),
      ...notedChanges(route, own, wanted),
    ];
    return writeOf(own[0]?.kind ?? 'httproute', route, changes, wanted.isFirst);
  });
}

/** One write, or none without changes. */
export function writeOf(
  kind: RouteWord,
  { metadata: { name, namespace = '', resourceVersion = '' } }: DeepReadonly<WeightedRoute>,
  changes: readonly RouteChange[],
  isFirst: boolean,
): readonly RouteWrite[] {
  return changes.length === 0 ? [] : [{ kind, namespace, name, resourceVersion, changes, isFirst }];
}

/** The route says whose rollout leads its requests, as long as that has more than nothing. */
function notedChanges(
  route: DeepReadonly<WeightedRoute>,
  own: readonly ManagedRule[],
  { deployment, parts, percent, services }: Wanted,
): readonly RouteChange[] {
  const { matches, mirror, setCookie } = parts ?? NO_PARTS;
  const leads = percent > 0 || matches.length > 0 || mirror > 0 || setCookie !== undefined;
  if (!leads && !parts && noteOn(route, deployment)) return [];
  return noteChanges(route, deployment, leads ? noteFor(own, deployment, services) : undefined);
}

/** The changes that give a rule this share. */
export function weightChanges(rule: ManagedRule, percent: number): readonly RouteChange[] {
  const weights = isAt(rule, percent) ? undefined : weightsAt(rule, percent);
  if (!weights) return [];
  const at = `/spec/rules/${rule.at}/backendRefs`;
  return [
    { op: 'add', path: `${at}/${rule.stable.at}/weight`, value: weights.stable },
    { op: 'add', path: `${at}/${rule.canary.at}/weight`, value: weights.canary },
  ];
}

/** The changes that give a rule the filters that go with these parts. */
export function filterChanges(
  rule: ManagedRule,
  { deployment, parts }: Pick<Wanted, 'deployment' | 'parts'>,
): readonly RouteChange[] {
  if (!parts || hasFilters(rule, deployment, parts)) return [];
  const { whole } = rule.route.rules[rule.at] ?? {};
  const at = `/spec/rules/${rule.at}`;
  const backend = whole?.backendRefs?.[rule.canary.at];
  return [
    ...replacement(`${at}/filters`, whole?.filters, filtersOf(rule, parts)),
    ...replacement(
      `${at}/backendRefs/${rule.canary.at}/filters`,
      backend?.filters,
      backendFiltersOf(rule, parts, deployment),
    ),
  ];
}

function replacement(
  path: string,
  before: readonly RouteFilter[] | undefined,
  value: readonly RouteFilter[],
): readonly RouteChange[] {
  if (value.length > 0) return [{ op: 'add', path, value }];
  return before === undefined ? [] : [{ op: 'remove', path }];
}

/** Added rules are the last of a route, so that places of others stay. */
export function ruleChanges(
  route: DeepReadonly<WeightedRoute>,
  own: readonly ManagedRule[],
  { deployment, parts }: Pick<Wanted, 'deployment' | 'parts'>,
): readonly RouteChange[] {
  if (!parts || hasRules(route, own, deployment, parts)) return [];
  const places = addedRulesOf(route, deployment).map(({ at }) => at);
  return [
    ...places.toReversed().map((at): RouteChange => ({ op: 'remove', path: `/spec/rules/${at}` })),
    ...neededRules(own, deployment, parts).map((value): RouteChange => ({
      op: 'add',
      path: '/spec/rules/-',
      value,
    })),
  ];
}

/** `5% of the requests, those with the header x-canary=always, and copies of 10%`. */
export function renderShare({ cookie, header, mirror = 0, percent }: Share): string {
  const parts = [
    `${percent}% of the requests`,
    ...(header ? [`those with the header ${header.name}=${header.value}`] : []),
    ...(cookie ? [`those with the cookie ${cookie.name}=${cookie.value}`] : []),
    ...(mirror > 0 ? [`copies of ${mirror}%`] : []),
  ];
  const last = parts.length > 1 ? ` and ${parts.pop()}` : '';
  return `${parts.join(', ')}${last}`;
}
