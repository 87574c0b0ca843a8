import type { ClusterConnection } from '@rollkeeper/client/api-client';
import { StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import type { ClusterSnapshot } from '../admin/server/index.js';
import type { Diagnosis } from '../insight/diagnose/index.js';
import { askAdmin, knowsReplica } from './admin-client.js';
import { consoleOfRun } from './console-url.js';

/** Problems beside the objects of a cluster; of replicas, if `up` runs this cluster from the data folder. */
export async function problemsBeside(
  dataDir: string,
  connection: ClusterConnection,
  nowMs: number,
): Promise<readonly Diagnosis[]> {
  const { findProblemsBeside } = await import('../insight/beside/index.js');
  const { FIRST_ANSWER_MS } = await import('../terminal/first-answer.js');
  const isOfRun = (await consoleOfRun(dataDir, connection.serverUrl)) !== undefined;
  return findProblemsBeside({
    ...{ connection, nowMs, withinMs: FIRST_ANSWER_MS },
    replicas: async () => (isOfRun ? ((await replicasOf(dataDir))?.replicas ?? []) : []),
  });
}

async function replicasOf(dataDir: string): Promise<ClusterSnapshot | undefined> {
  try {
    return await askAdmin<ClusterSnapshot>({ dataDir }, '/admin/replicas');
  } catch {
    return undefined;
  }
}

/** An error of an API server that does not answer, with what else answers from the data folder; other errors as they are. */
export async function withWhatAnswers(error: unknown, dataDir: string): Promise<unknown> {
  if (!(error instanceof StartupError) || !(await knowsReplica({ dataDir }))) return error;
  const snapshot = await replicasOf(dataDir);
  const reached = (snapshot?.replicas ?? []).filter(({ reachable }) => reachable);
  const silent = (snapshot?.replicas ?? []).filter(({ reachable }) => !reachable);
  const named = (replicas: typeof reached): string => replicas.map(({ identity }) => identity).join(', ');
  const parts = [
    ...(reached.length > 0
      ? [`${named(reached)} ${reached.length === 1 ? 'answers' : 'answer'}`]
      : ['no replica answers']),
    ...(silent.length > 0 ? [`${named(silent)} ${silent.length === 1 ? 'does' : 'do'} not`] : []),
    ...(snapshot ? [`Redis ${snapshot.store.answers ? 'answers' : 'does not answer'}`] : []),
  ];
  return new StartupError(`${errorMessage(error)}; ${parts.join(', ')}`, { cause: error });
}
