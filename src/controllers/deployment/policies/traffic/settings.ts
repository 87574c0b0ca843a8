import { parseDuration } from '@rollkeeper/machinery/clock';
import { isWholeSurge, NO_SERVICE_NAME, SERVICE_NAME, type BlueGreenFields } from '../blue-green/settings.js';
import { PREFIX, annotationOf } from '../common/names.js';
import type { GivenServices } from '../common/steered-services.js';
import {
  NEEDS_ROLLING_UPDATE,
  NO_DURATION,
  type CombinedSettings,
  type GivenSettings,
  type PolicyProblem,
  type PolicySettings,
} from '../common/settings.js';
import type { StepFields } from '../steps/settings.js';
import { isShareStep } from '../steps/step-shares.js';

/** The kinds of `gateway.networking.k8s.io/v1` whose rules have weights. */
export const ROUTE_WORDS = ['httproute', 'grpcroute'] as const;
export type RouteWord = (typeof ROUTE_WORDS)[number];

/** A route of the Deployment's namespace. */
export interface RouteRef {
  readonly kind: RouteWord;
  readonly name: string;
  /** `spec.rules[].name` of the only rule that is meant. @default every rule that names both Services */
  readonly rule?: string;
}

/** A rollout in which the rules of routes say which share of the requests goes to the new version. */
export interface Traffic extends GivenServices {
  readonly routes: readonly RouteRef[];
  /** How long a version has had no share before its pods go, milliseconds. @default the longest timeout of its rules */
  readonly drainMs?: number;
  /** How long users that met the new version stay on it, by a cookie, milliseconds. @default each request is drawn for itself */
  readonly stickyMs?: number;
  /** Whether the old version has only as many pods as its share needs. @default it stays whole */
  readonly isStableDynamic?: boolean;
}

export interface TrafficFields {
  /** @default no route is touched */
  readonly traffic?: Traffic;
  /** The texts from which `traffic` is made. */
  readonly trafficTexts?: TrafficTexts;
}

/** The values of the annotations, each for itself. */
interface TrafficTexts {
  routes?: readonly RouteRef[];
  stableService?: string;
  canaryService?: string;
  drainMs?: number;
  stickyMs?: number;
  isStableDynamic?: boolean;
}

/** On a ReplicaSet: which share of the requests its version was given last, and since when it has it. */
export const WEIGHT = `${PREFIX}weight`;

const DEPENDENT_SETTINGS = [
  'stable-service',
  'canary-service',
  'traffic-drain',
  'traffic-sticky',
  'traffic-stable',
];
/** The routes of one Deployment. */
const MOST_ROUTES = 16;
const ROUTE = /^(httproute|grpcroute)\/([a-z0-9][-.a-z0-9]{0,252})(?:\/([a-z0-9][-.a-z0-9]{0,252}))?$/;

type Read = (text: string, fields: TrafficTexts) => string | undefined;

const READERS: Readonly<Record<string, Read>> = {
  traffic: (text, fields) => {
    const words = text.split(',').map((word) => word.trim());
    if (words.length > MOST_ROUTES) return `has ${words.length} routes, the most are ${MOST_ROUTES}`;
    const routes = words.map(parseRoute);
    const known = routes.filter((route) => route !== undefined);
    if (known.length < routes.length)
      return 'is not a list of httproute/NAME, grpcroute/NAME, or one of these with /RULE';
    fields.routes = known;
    return undefined;
  },
  'stable-service': (text, fields) => {
    if (!SERVICE_NAME.test(text)) return NO_SERVICE_NAME;
    fields.stableService = text;
    return undefined;
  },
  'canary-service': (text, fields) => {
    if (!SERVICE_NAME.test(text)) return NO_SERVICE_NAME;
    fields.canaryService = text;
    return undefined;
  },
  'traffic-drain': (text, fields) => {
    const ms = parseDuration(text);
    if (ms === undefined) return NO_DURATION;
    fields.drainMs = ms;
    return undefined;
  },
  'traffic-sticky': (text, fields) => {
    const ms = parseDuration(text);
    if (ms === undefined || ms === 0) return NO_DURATION;
    fields.stickyMs = ms;
    return undefined;
  },
  'traffic-stable': (text, fields) => {
    if (text !== 'whole' && text !== 'dynamic') return 'is neither whole nor dynamic';
    fields.isStableDynamic = text === 'dynamic';
    return undefined;
  },
};

function parseRoute(word: string): RouteRef | undefined {
  const [, kind, name, rule] = ROUTE.exec(word) ?? [];
  if (kind === undefined || name === undefined) return undefined;
  return { kind: kind as RouteWord, name, ...(rule !== undefined && { rule }) };
}

/** The routes that an annotation names; none where it cannot be read. */
export function routesNamedBy(text: string | undefined): readonly RouteRef[] {
  const fields: TrafficTexts = {};
  if (text !== undefined) READERS['traffic']?.(text.trim(), fields);
  return fields.routes ?? [];
}

export const TRAFFIC_SETTINGS: PolicySettings<TrafficFields, StepFields & BlueGreenFields> = {
  none: {},
  readers: Object.fromEntries(
    Object.entries(READERS).map(([setting, read]) => [
      setting,
      (text, fields) => read(text, (fields.trafficTexts ??= {})),
    ]),
  ),
  combine: ({ blueGreenTexts, steps = [], trafficTexts = {} }, given) =>
    combine(trafficTexts, given, {
      hasWeights: steps.some(isShareStep),
      isBlueGreen: blueGreenTexts?.strategy === 'blue-green',
    }),
  keeps: [WEIGHT],
};

interface Others {
  readonly hasWeights: boolean;
  readonly isBlueGreen: boolean;
}

/** The settings together. As with blue-green, two whole versions need a surge of 100 %. */
function combine(
  { routes, ...texts }: TrafficTexts,
  { has, problemOf, shape, textOf }: GivenSettings,
  { hasWeights, isBlueGreen }: Others,
): CombinedSettings<TrafficFields> {
  const problems: PolicyProblem[] = [];
  const refuse = (setting: string, why: string): void => void problems.push(problemOf(setting, why));
  if (!has('traffic')) {
    const why = `needs ${annotationOf('traffic')}`;
    for (const setting of DEPENDENT_SETTINGS) if (has(setting)) refuse(setting, why);
    if (hasWeights)
      refuse('steps', `says which requests the new version gets, which needs ${annotationOf('traffic')}`);
    return { problems };
  }
  const { isRollingUpdate, maxSurge } = shape;
  if (!isRollingUpdate) refuse('traffic', NEEDS_ROLLING_UPDATE);
  else if (maxSurge !== undefined && !isWholeSurge(maxSurge))
    refuse(
      'traffic',
      `needs spec.strategy.rollingUpdate.maxSurge of 100% or more, as a percentage, and it is ${maxSurge}`,
    );
  if (isBlueGreen) refuse('traffic', `cannot be combined with ${annotationOf('strategy')}: blue-green`);
  // It takes an old pod before a new one is available.
  if (has('surge')) refuse('traffic', `cannot be combined with ${annotationOf('surge')}`);
  const { canaryService, stableService } = texts;
  if (stableService !== undefined && stableService === canaryService)
    refuse('canary-service', `is the same Service as ${annotationOf('stable-service')}`);
  // One that was given and is wrong must not be taken for one that was not given.
  const isRead =
    (stableService !== undefined || textOf('stable-service') === undefined) &&
    (canaryService !== undefined || textOf('canary-service') === undefined);
  if (problems.length > 0 || !routes || !isRead) return { problems };
  return { fields: { traffic: { routes, ...texts } } };
}
