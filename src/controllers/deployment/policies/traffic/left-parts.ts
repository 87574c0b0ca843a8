import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { lookAgainAfter } from '../common/outcome.js';
import type { Policy, PolicyDecision } from '../common/pass.js';
import type { RouteChange, RouteWrite } from '../common/route-write.js';
import { normal, tellEvent } from '../common/tell.js';
import { titleOf } from './managed-rules.js';
import { addedRulesOf, setsOwnCookie } from './own-parts.js';
import type { RouteFilter, RouteRule, WeightedRoute } from './route-part.js';
import { ROUTE_WORDS, type RouteWord } from './settings.js';
import type { TrafficPass } from './traffic.js';

/** The write brings it back; this covers a watch that misses it. */
const WRITE_LOOKS_AGAIN_MS = 1000;

/**
 * Routes lose what a rollout has added to them beside weights once the Deployment asks for no traffic any more, and before its Services
 * select all pods again: a copy would go to the pods that had the request. The Services tell whose rollout it was.
 */
export const LEFT_PARTS: Policy<TrafficPass> = { decide: clearRoutes };

function clearRoutes(pass: TrafficPass): PolicyDecision | undefined {
  const { draft, outcome, policy, routes, services, writes } = pass;
  // The routes that it moves may be named by what cannot be understood.
  if (policy.traffic || policy.unclear !== undefined) return undefined;
  if (routes === undefined || routes === 'off' || services === undefined || services === 'off')
    return undefined;
  const { name, namespace = '' } = draft.observed.metadata;
  const managed = new Set(services.managedBy(namespace, name).map(({ metadata }) => metadata.name));
  if (managed.size === 0) return undefined;
  const left = ROUTE_WORDS.flatMap((kind) =>
    routes.inNamespace(kind, namespace).flatMap((route) => clearing(kind, route, { name, managed })),
  );
  if (left.length === 0) return undefined;
  for (const { route, write } of left) {
    writes.routes.push(write);
    const message = `${titleOf(route)} leads no requests for a rollout any more: no policy asks for it`;
    tellEvent(draft, outcome, normal('TrafficWeight', message));
  }
  lookAgainAfter(outcome, WRITE_LOOKS_AGAIN_MS);
  return { ends: true };
}

interface Owner {
  /** The name of the Deployment. */
  readonly name: string;
  /** The Services that its rollouts have moved. */
  readonly managed: ReadonlySet<string>;
}

interface Clearing {
  readonly route: DeepReadonly<WeightedRoute>;
  readonly write: RouteWrite;
}

function clearing(kind: RouteWord, route: DeepReadonly<WeightedRoute>, owner: Owner): readonly Clearing[] {
  const added = addedRulesOf(route, owner.name).map(({ at }) => at);
  const changes = [
    ...route.rules.flatMap((rule, at) => (added.includes(at) ? [] : filterChanges(rule, at, owner))),
    ...added.toReversed().map((at): RouteChange => ({ op: 'remove', path: `/spec/rules/${at}` })),
  ];
  if (changes.length === 0) return [];
  const { name, namespace = '', resourceVersion = '' } = route.metadata;
  return [{ route, write: { kind, namespace, name, resourceVersion, changes, isFirst: true } }];
}

function filterChanges(
  { whole }: DeepReadonly<RouteRule>,
  at: number,
  { managed, name }: Owner,
): readonly RouteChange[] {
  const { backendRefs = [], filters } = whole ?? {};
  // A rule that does not share requests between two of its Services was never led.
  if (backendRefs.filter((backend) => managed.has(backend.name)).length < 2) return [];
  const isOwnCopy = ({ requestMirror }: RouteFilter): boolean =>
    requestMirror !== undefined && managed.has(requestMirror.backendRef.name);
  return [
    ...without(`/spec/rules/${at}/filters`, filters, isOwnCopy),
    ...backendRefs.flatMap((backend, index) =>
      without(`/spec/rules/${at}/backendRefs/${index}/filters`, backend.filters, (filter) =>
        setsOwnCookie(filter, name),
      ),
    ),
  ];
}

function without(
  path: string,
  filters: readonly RouteFilter[] = [],
  isOwn: (filter: RouteFilter) => boolean,
): readonly RouteChange[] {
  const value = filters.filter((filter) => !isOwn(filter));
  if (value.length === filters.length) return [];
  return [value.length === 0 ? { op: 'remove', path } : { op: 'add', path, value }];
}
