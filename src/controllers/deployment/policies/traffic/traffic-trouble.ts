import { POD_TEMPLATE_HASH } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { activeOf } from '../../kubernetes/replica-set-draft.js';
import { serviceTrouble } from '../blue-green/blue-green-trouble.js';
import { SERVICE_NAME } from '../blue-green/settings.js';
import type { Services, WatchedServices } from '../blue-green/selecting-services.js';
import type { Problem } from '../common/tell.js';
import { ROUTES_NOT_WATCHED, ROUTE_NOT_USABLE, SERVICE_NOT_USABLE } from '../common/tell.js';
import { portsOfMade } from './made-services.js';
import type { Share } from '../common/share.js';
import { divisionProblem, isAt, managedRulesOf, titleOf, type ManagedRule } from './managed-rules.js';
import { NO_PARTS, haveParts, partsOf, partsProblem, stickyCookie } from './own-parts.js';
import type { Routes, WatchedRoutes } from './routes.js';
import { trafficServicesOf, type TrafficServices } from '../common/steered-services.js';
import type { RouteRef, Traffic } from './settings.js';

/** The objects that steer the requests of a Deployment. */
export interface Steering {
  readonly services: Services;
  readonly names: TrafficServices;
  readonly rules: readonly ManagedRule[];
}

export type FoundSteering =
  | { readonly kind: 'known'; readonly steering: Steering }
  /** `endsUnseen`: no event reports its end to this process, whose caches may be behind those of the leader. */
  | { readonly kind: 'trouble'; readonly problem: Problem; readonly endsUnseen?: boolean }
  /** The caches are being filled. */
  | { readonly kind: 'unknown' };

export interface SteeringSources {
  readonly services: WatchedServices;
  readonly routes: WatchedRoutes;
}

const SPELLED = { httproute: 'HTTPRoute', grpcroute: 'GRPCRoute' } as const;
const UNKNOWN: FoundSteering = { kind: 'unknown' };

/**
 * The Services and rules by which a Deployment's requests are steered, or why they cannot be.
 * @param traffic with the shares that its steps ask for
 */
export function findSteering(
  draft: RolloutDraft,
  traffic: Traffic & { readonly shares: readonly Share[] },
  { routes, services }: SteeringSources,
): FoundSteering {
  if (services === 'off' || routes === 'off')
    return trouble(ROUTES_NOT_WATCHED, ['routes are not watched: start the controller with --traffic']);
  if (services.availability === 'refused')
    return unseen(trouble(ROUTES_NOT_WATCHED, ['the controller may not list Services']));
  const kinds = new Set(traffic.routes.map(({ kind }) => kind));
  const refused = [...kinds].filter((kind) => routes.availabilityOf(kind) === 'refused');
  if (refused.length > 0)
    return unseen(
      trouble(
        ROUTES_NOT_WATCHED,
        refused.map((kind) => `the controller cannot list ${SPELLED[kind]}s of gateway.networking.k8s.io/v1`),
      ),
    );
  const isStarting = [...kinds].some((kind) => routes.availabilityOf(kind) === 'starting');
  if (isStarting || services.availability === 'starting') return UNKNOWN;
  const names = trafficServicesOf(traffic, draft.name);
  const found = findRules(draft, traffic.routes, { routes, names });
  if (found.problems.length > 0) return trouble(ROUTE_NOT_USABLE, found.problems);
  const { rules } = found;
  const division = divisionTrouble(rules, traffic.shares);
  if (division !== undefined) return trouble(ROUTE_NOT_USABLE, [division]);
  const unfit = troubleAtRest(draft.name, rules, traffic);
  if (unfit !== undefined) return trouble(ROUTE_NOT_USABLE, [unfit]);
  const problems = [names.stable, names.canary].flatMap(
    (name) => troubleOfService(draft, name, { services, rules, names }) ?? [],
  );
  const unnamed = activeOf(draft.living).find(({ labels }) => labels[POD_TEMPLATE_HASH] === undefined);
  if (unnamed)
    problems.push(
      `ReplicaSet "${unnamed.name}" has no ${POD_TEMPLATE_HASH}, by which a Service could select it`,
    );
  if (problems.length > 0) return trouble(SERVICE_NOT_USABLE, problems);
  return { kind: 'known', steering: { services, names, rules } };
}

interface Looked {
  readonly routes: Routes;
  readonly names: TrafficServices;
}

function findRules(
  draft: RolloutDraft,
  refs: readonly RouteRef[],
  { names, routes }: Looked,
): { readonly rules: readonly ManagedRule[]; readonly problems: readonly string[] } {
  const { namespace = '' } = draft.observed.metadata;
  const rules: ManagedRule[] = [];
  const problems: string[] = [];
  for (const ref of refs) {
    const route = routes.find(ref.kind, namespace, ref.name);
    const found = route && managedRulesOf(route, ref, names);
    if (!found) problems.push(`${SPELLED[ref.kind]} "${ref.name}" does not exist`);
    else if ('problem' in found) problems.push(found.problem);
    else rules.push(...found.rules.filter((rule) => !rules.some((each) => isSame(each, rule))));
  }
  return { rules, problems };
}

/** A route may be named twice, by its rules. */
function isSame(one: ManagedRule, other: ManagedRule): boolean {
  return one.route === other.route && one.at === other.at;
}

function troubleOfService(
  draft: RolloutDraft,
  name: string,
  { names, rules, services }: Steering,
): string | undefined {
  const { namespace = '' } = draft.observed.metadata;
  if (services.find(namespace, name)) return serviceTrouble(draft, name, services);
  if (!SERVICE_NAME.test(name)) return `"${name}" is not the name of a Service: give another`;
  const ports = portsOfMade(draft.spec, rules, name === names.stable ? 'stable' : 'canary');
  return 'problem' in ports ? `Service "${name}" does not exist, and ${ports.problem}` : undefined;
}

/** Why the rules cannot give a share that is asked for, of one that can be known before. */
function divisionTrouble(rules: readonly ManagedRule[], shares: readonly Share[]): string | undefined {
  for (const rule of rules)
    for (const { percent } of shares) {
      const problem = divisionProblem(rule, percent);
      if (problem !== undefined) return problem;
    }
  return undefined;
}

/** Why no rollout may begin. One that has begun is not held by it, since its way back must stay open. */
function troubleAtRest(
  deployment: string,
  rules: readonly ManagedRule[],
  { shares, stickyMs }: Traffic & { readonly shares: readonly Share[] },
): string | undefined {
  if (!rules.every((rule) => isAt(rule, 0)) || !haveParts(rules, deployment, NO_PARTS)) return undefined;
  const persistent = rules.find(({ at, route }) => route.rules[at]?.whole?.sessionPersistence !== undefined);
  if (persistent)
    return `rule ${persistent.at + 1} of ${titleOf(persistent.route)} has sessionPersistence, which keeps clients on a version although its weight is 0`;
  const sticky =
    stickyMs === undefined ? undefined : { cookie: stickyCookie(deployment), hash: '', maxAgeMs: stickyMs };
  for (const share of shares) {
    const problem = partsProblem(rules, deployment, partsOf(share, sticky));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function unseen(found: FoundSteering): FoundSteering {
  return found.kind === 'trouble' ? { ...found, endsUnseen: true } : found;
}

function trouble(reason: Problem['reason'], messages: readonly string[]): FoundSteering {
  return { kind: 'trouble', problem: { reason, message: messages.join('; ') } };
}
