import type { Decision, Kind, Lister, ReconcileContext, ReconcileResult } from '@rollkeeper/runtime';
import { ReplicaSet, isNotFound, unlessGone } from '@rollkeeper/runtime';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { parseKey } from '@rollkeeper/machinery/kubernetes';
import { experimentsLeftBy } from './claim-replica-sets.js';
import { releaseServices } from './policies/blue-green/release-services.js';
import type { SelectingService } from './policies/blue-green/selecting-services.js';
import { normal } from './policies/common/tell.js';
import type { Surroundings } from './policies/policies.js';
import { clearingOf, clearRoute, servicesToRead, type Clearing } from './policies/traffic/clearing.js';
import { readEndpoints, type ReadyEndpoints } from './policies/traffic/endpoints.js';
import { titleOf } from './policies/traffic/managed-rules.js';
import { steerRoute } from './policies/traffic/write-route.js';

/** A Deployment that no longer exists, and what its rollouts have left in other objects. */
export interface DeletedDeployment {
  readonly as: 'deleted';
  readonly key: string;
  /** The Services whose selectors its rollouts had moved. */
  readonly services: readonly DeepReadonly<SelectingService>[];
  /** The routes by which its rollouts led requests. */
  readonly routes: readonly Clearing[];
  /** The ReplicaSets of its experiments: only a Deployment that was deleted with `--cascade=orphan` leaves some. */
  readonly experiments: readonly DeepReadonly<ReplicaSet>[];
  /** The ready endpoints of the Services of these routes. */
  readonly endpoints: ReadyEndpoints;
}

/** The sources of what is left. */
export interface LeftBehind {
  /** The kinds of the APIs that may have a Deployment of a name. @default what is left stays */
  readonly kinds?: readonly Kind<Deployment>[];
  readonly surroundings?: Pick<Surroundings, 'routes' | 'services'>;
  /** With ORPHAN_INDEX. @default experiments stay */
  readonly replicaSets?: Lister<ReplicaSet>;
}

/** Nothing reports when endpoints have come: one looks for them ever more rarely, as they may never come. */
const ENDPOINTS_LOOK_AGAIN = { firstMs: 2000, longestMs: 120_000 };

/** How long what is left of deleted Deployments waits for endpoints, by their keys. Known to this process alone. */
export class ReleaseWaits {
  private readonly looks = new Map<string, number>();

  /** How long to wait before the next look, milliseconds; longer each time. */
  next(key: string): number {
    const looks = this.looks.get(key) ?? 0;
    this.looks.set(key, looks + 1);
    return doublingDelayMs(looks, ENDPOINTS_LOOK_AGAIN);
  }

  /** Nothing is waited for any more, or something has changed. */
  forget(key: string): void {
    this.looks.delete(key);
  }
}

type Left = Pick<DeletedDeployment, 'experiments' | 'routes' | 'services'>;

/** Whether a Deployment of this key, which does not exist, has left anything that the caches know. */
export function hasLeft(key: string, sources: LeftBehind): boolean {
  return isAny(leftBy(key, sources));
}

/**
 * The Services that a deleted Deployment has left selecting one of its versions alone, the routes that still lead requests for it, and the
 * ReplicaSets of its experiments. These objects themselves bring its key back, so no finalizer is needed, and a replica that was down in the meantime misses none.
 */
export async function observeDeleted(
  key: string,
  sources: LeftBehind,
  { client, signal }: Pick<ReconcileContext, 'client' | 'signal'>,
): Promise<DeletedDeployment | undefined> {
  if (!hasLeft(key, sources)) return undefined;
  const ref = parseKey(key);
  for (const kind of sources.kinds ?? [])
    if (await unlessGone(client.get<Deployment>(kind, ref, { signal }))) return undefined;
  const left = leftBy(key, sources);
  if (!isAny(left)) return undefined;
  const { namespace } = ref;
  const endpoints = await readEndpoints(client, { namespace, services: servicesToRead(left.routes) }, signal);
  return { as: 'deleted', key, ...left, endpoints };
}

function leftBy(
  key: string,
  { kinds, replicaSets, surroundings: { routes, services } = {} }: LeftBehind,
): Left {
  const { name, namespace = '' } = parseKey(key);
  if (!kinds) return { experiments: [], routes: [], services: [] };
  const steered = routes === undefined || routes === 'off' ? [] : routes.leftBy(namespace, name);
  return {
    routes: steered.flatMap((each) => clearingOf(each) ?? []),
    services: services === undefined || services === 'off' ? [] : services.leftBy(namespace, name),
    experiments: replicaSets ? experimentsLeftBy(namespace, name, replicaSets) : [],
  };
}

function isAny({ experiments, routes, services }: Left): boolean {
  return experiments.length + routes.length + services.length > 0;
}

/** Describes for people how the objects of a deleted Deployment are released. */
export function describeRelease({ experiments, routes, services }: Left): Decision {
  const results = [
    ...services.map(({ metadata }) => `Service "${metadata.name}" selects all pods again`),
    ...routes.map(({ route }) => `${titleOf(route)} leads no requests for it any more`),
    ...experiments.map(({ metadata }) => `ReplicaSet "${metadata.name}" of an experiment is deleted`),
  ];
  return { branch: 'deleted', summary: `the Deployment was deleted: ${results.join(', ')}`, changes: true };
}

/**
 * Takes from the routes what the rollouts of a deleted Deployment have given them, and then its hash from the selectors of its Services:
 * until then a copy of a request goes to the new version alone. Experiments end, and the garbage collector removes their pods and
 * Services.
 * @throws ApiStatusError Conflict if one has changed meanwhile: the next sync decides again
 */
export async function releaseLeft(
  { endpoints, experiments, key, routes, services }: DeletedDeployment,
  waits: ReleaseWaits,
  context: Pick<ReconcileContext, 'client' | 'events' | 'signal'>,
): Promise<ReconcileResult> {
  let isWhole = true;
  for (const clearing of routes) {
    const cleared = clearRoute(clearing, endpoints);
    isWhole &&= cleared.isWhole;
    const { route } = clearing;
    if (cleared.writes.length > 0) waits.forget(key);
    for (const write of cleared.writes) {
      try {
        await steerRoute(route, write, context);
      } catch (error) {
        if (isNotFound(error)) continue;
        throw error;
      }
      const message = `It leads no requests for a rollout any more: Deployment ${key} was deleted`;
      context.events.record(route, normal('TrafficWeight', message));
    }
  }
  await releaseServices({ key, services }, context);
  const { client, signal } = context;
  for (const { metadata } of experiments)
    await unlessGone(client.delete(ReplicaSet, metadata, { preconditions: { uid: metadata.uid }, signal }));
  if (!isWhole) return { requeueAfterMs: waits.next(key) };
  waits.forget(key);
  return {};
}
