import { findCondition } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isForbidden, isNotFound } from '@rollkeeper/client/api-client';
import type { RolloutState } from '@rollkeeper/controllers/deployment';
import {
  DEPLOYMENT_APIS,
  deploymentTypeOf,
  failureOf,
  rolloutHealth,
  stateOfStatus,
} from '@rollkeeper/controllers/deployment';
import { UnsupportedError } from '@rollkeeper/machinery/errors';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import type { ClusterSnapshot, DeploymentGlance } from '../../admin/server/index.js';
import type { TopQueue, TopRollout, TopView } from './top-view.js';
import { TOP_STATES, inOrder } from './top-view.js';

/** Reads the view from a replica: with reasons, queues and the number of keys that each replica processes. */
export async function readTopFromReplica(
  askAdmin: <T>(path: string) => Promise<T>,
  nowMs: number,
  namespace?: string,
): Promise<TopView> {
  const [all, queues, snapshot] = await Promise.all([
    askAdmin<readonly DeploymentGlance[]>('/admin/deployments'),
    askAdmin<readonly { controller: string; counts: Omit<TopQueue, 'controller'> }[]>('/admin/queues'),
    askAdmin<ClusterSnapshot>('/admin/replicas'),
  ]);
  const wanted = all.filter((each) => namespace === undefined || each.namespace === namespace);
  return {
    at: toRfc3339(nowMs),
    total: wanted.length,
    rollouts: inOrder(wanted.flatMap(rolloutOfGlance)),
    queues: queues.map(({ controller, counts }) => ({ controller, ...counts })),
    replicas: snapshot.replicas.map(({ identity, leader, reachable, running, version }) => ({
      ...{ identity, leader, reachable, running: running.length },
      ...(version !== undefined && { version }),
    })),
  };
}

function rolloutOfGlance(glance: DeploymentGlance): readonly TopRollout[] {
  const { apiVersion, counts, name, namespace, sentence, state, wanted } = glance;
  const shown = TOP_STATES.find((known) => known === state);
  if (!shown) return [];
  if ((counts as Partial<DeploymentGlance>['counts']) === undefined)
    throw new UnsupportedError(
      'the replica is of an older release and tells no sizes; ask the API with --kubeconfig',
    );
  const { available, total, updated } = counts;
  return [
    { apiVersion, namespace, name, state: shown, wanted, updated, available, pods: total, why: sentence },
  ];
}

/** Reads the view from the objects alone, for a user without access to a replica. */
export async function readTopFromApi(
  client: ApiClient,
  {
    namespace,
    nowMs,
    signal,
  }: { readonly namespace?: string; readonly nowMs: number; readonly signal: AbortSignal },
): Promise<TopView> {
  const lists = await Promise.all(
    DEPLOYMENT_APIS.map(async (api) => {
      try {
        return (await client.list<Deployment>(deploymentTypeOf(api), { namespace, signal })).items;
      } catch (error) {
        // The custom API need not be served, and need not be allowed.
        if (api !== 'apps/v1' && (isNotFound(error) || isForbidden(error))) return [];
        throw error;
      }
    }),
  );
  const all = lists.flat();
  return {
    at: toRfc3339(nowMs),
    total: all.length,
    rollouts: inOrder(all.flatMap((each) => rolloutOfObject(each, nowMs))),
  };
}

/** A row for a Deployment whose status shows that it moves, or should; none for one that is complete. */
export function rolloutOfObject(deployment: DeepReadonly<Deployment>, nowMs: number): readonly TopRollout[] {
  const { apiVersion, metadata, spec, status = {} } = deployment;
  const rollout = stateOfStatus(deployment, nowMs);
  const state = rolloutHealth(rollout, deployment);
  if (state === 'complete') return [];
  return [
    {
      ...{ apiVersion, namespace: metadata.namespace ?? 'default', name: metadata.name, state },
      wanted: spec.replicas ?? 1,
      updated: status.updatedReplicas ?? 0,
      available: status.availableReplicas ?? 0,
      pods: status.replicas ?? 0,
      why: whyOf(rollout, deployment),
    },
  ];
}

function whyOf(rollout: RolloutState, { spec, status }: DeepReadonly<Deployment>): string {
  // The condition says what it waited for.
  if (rollout.phase === 'failed' && failureOf(rollout) === undefined)
    return findCondition(status?.conditions, 'Progressing')?.message ?? rollout.message;
  return spec.paused && rollout.phase !== 'deleting' ? 'It is paused.' : rollout.message;
}
