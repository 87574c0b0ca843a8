import type { ApiClient } from '@rollkeeper/client/api-client';
import { isForbidden, isNotFound } from '@rollkeeper/client/api-client';
import { DEPLOYMENT_APIS, deploymentTypeOf, findCondition } from '@rollkeeper/controllers/deployment';
import { UnsupportedError } from '@rollkeeper/machinery/errors';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import type { ClusterSnapshot, DeploymentGlance } from '../admin/index.js';
import { decideRolloutState } from '../rollout/index.js';
import type { TopQueue, TopRollout, TopState, TopView } from './top-view.js';
import { TOP_STATES, inOrder } from './top-view.js';

/** What replicas know: with reasons, queues and the number of keys that each replica processes. */
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

/** What the objects alone show, for a user without access to a replica. */
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
  return { at: toRfc3339(nowMs), total: all.length, rollouts: inOrder(all.flatMap(rolloutOfObject)) };
}

/** What of a Deployment's status moves; nothing of one that is complete. */
export function rolloutOfObject(deployment: DeepReadonly<Deployment>): readonly TopRollout[] {
  const { apiVersion, metadata, spec, status = {} } = deployment;
  const found = stateOf(deployment);
  if (!found) return [];
  return [
    {
      ...{ apiVersion, namespace: metadata.namespace ?? 'default', name: metadata.name, ...found },
      wanted: spec.replicas ?? 1,
      updated: status.updatedReplicas ?? 0,
      available: status.availableReplicas ?? 0,
      pods: status.replicas ?? 0,
    },
  ];
}

function stateOf(
  deployment: DeepReadonly<Deployment>,
): { readonly state: TopState; readonly why: string } | undefined {
  const { metadata, spec, status } = deployment;
  if (metadata.deletionTimestamp !== undefined) return { state: 'deleting', why: 'It is being deleted.' };
  const progressing = findCondition(status?.conditions, 'Progressing');
  const { message, state } = decideRolloutState(deployment);
  if (state === 'failed') return { state: 'blocked', why: progressing?.message ?? message };
  if (spec.paused) return { state: 'paused', why: 'It is paused.' };
  if (state === 'complete') return undefined;
  const isRolledOut = progressing?.reason === 'NewReplicaSetAvailable';
  return { state: isRolledOut ? 'degraded' : 'progressing', why: message };
}
