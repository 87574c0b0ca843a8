import type { ApiClient } from '@rollkeeper/client/api-client';
import {
  completeDeployment,
  deploymentTypeOf,
  isCustomDeployment,
  releaseOf,
  rolloutState,
} from '@rollkeeper/controllers/deployment';
import type { DeploymentApi, RolloutPhase } from '@rollkeeper/controllers/deployment';
import type { Deployment } from '@rollkeeper/machinery/kubernetes';
import { Namespace, ReplicaSet, isControlledBy } from '@rollkeeper/machinery/kubernetes';
import { renderTable } from '../../terminal/index.js';
import { OUTCOME_OF_PHASE, type RolloutOutcome } from './rollout-outcome.js';

/** The Deployments that change together, as one. */
export interface ReleaseReport {
  readonly release: string;
  readonly namespace: string;
  readonly outcome: RolloutOutcome;
  /** By name. */
  readonly members: readonly ReleaseMember[];
}

/** A Deployment of a release. */
export interface ReleaseMember {
  readonly name: string;
  readonly phase: RolloutPhase;
  /** For people. */
  readonly message: string;
}

/** The outcome of a release is the first of these that one of its Deployments has. */
const WORST_FIRST = [
  'failed',
  'rolled-back',
  'waiting-for-approval',
  'progressing',
  'held',
  'complete',
] as const;

/**
 * Reads the Deployments of a release. Needs `list` of Deployments and ReplicaSets in the namespace, and of the Namespace `get`
 * for its defaults, if it may.
 * @returns undefined if no Deployment of the namespace names the release
 */
export async function readRelease(
  client: ApiClient,
  { api = 'apps/v1', namespace, nowMs, release }: ReleaseQuestion,
): Promise<ReleaseReport | undefined> {
  const [deployments, replicaSets, namespaceAnnotations] = await Promise.all([
    client.list<Deployment>(deploymentTypeOf(api), { namespace }),
    client.list<ReplicaSet>(ReplicaSet, { namespace }),
    defaultsOf(client, namespace),
  ]);
  const members = deployments.items
    .filter(({ metadata }) => releaseOf(metadata.annotations) === release)
    .map((deployment): ReleaseMember => {
      const own = replicaSets.items.filter((set) => isControlledBy(set, deployment));
      const whole = isCustomDeployment(deployment) ? completeDeployment(deployment) : deployment;
      const view = { deployment: whole, replicaSets: own, pods: [], namespaceAnnotations, nowMs };
      const { message, phase } = rolloutState(view);
      return { name: deployment.metadata.name, phase, message };
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return members.length === 0 ? undefined : { release, namespace, outcome: outcomeOf(members), members };
}

interface ReleaseQuestion {
  readonly release: string;
  readonly namespace: string;
  /** @default apps/v1 */
  readonly api?: DeploymentApi;
  readonly nowMs: number;
}

function outcomeOf(members: readonly ReleaseMember[]): RolloutOutcome {
  const all = new Set(members.map(({ phase }) => OUTCOME_OF_PHASE[phase]));
  return WORST_FIRST.find((outcome) => all.has(outcome)) ?? 'gone';
}

async function defaultsOf(
  client: ApiClient,
  name: string,
): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    return (await client.get<Namespace>(Namespace, { name })).metadata.annotations;
  } catch {
    return undefined;
  }
}

/** A line for the release, and one for each of its Deployments. */
export function renderRelease({ members, namespace, outcome, release }: ReleaseReport): string {
  const rows = members.map(({ message, name, phase }) => [name, phase, message]);
  const head = `release ${release} in namespace ${namespace}: ${outcome}`;
  return [head, renderTable([['DEPLOYMENT', 'PHASE', 'MESSAGE'], ...rows])].join('\n');
}
