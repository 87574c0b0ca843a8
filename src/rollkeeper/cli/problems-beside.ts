import type { ClusterConnection } from '@rollkeeper/client/api-client';
import { StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import type { ClusterSnapshot } from '../admin/index.js';
import type { Diagnosis } from '../diagnose/index.js';
import { askAdmin, knowsReplica } from './admin-client.js';
import { consoleOfRun } from './console-url.js';

/**
 * Problems beside the objects of a cluster: replicas that hang, if `up` runs this cluster from the data folder, and the certificate
 * and the authority of the API server, if they end within a day. A certificate of a user may be made for a day each day. What
 * cannot be asked is left out.
 */
export async function problemsBeside(
  dataDir: string,
  connection: ClusterConnection,
  nowMs: number,
): Promise<readonly Diagnosis[]> {
  const { replicaProblems } = await import('../diagnose/index.js');
  const isOfRun = (await consoleOfRun(dataDir, connection.serverUrl)) !== undefined;
  const [snapshot, certificates] = await Promise.all([
    isOfRun ? replicasOf(dataDir) : undefined,
    endingCertificates(connection, nowMs),
  ]);
  return [...replicaProblems(snapshot?.replicas ?? []), ...certificates];
}

async function endingCertificates(
  connection: ClusterConnection,
  nowMs: number,
): Promise<readonly Diagnosis[]> {
  const { certificateProblems } = await import('../diagnose/index.js');
  const { certificatesOf, readCertificates } = await import('../doctor/index.js');
  const { FIRST_ANSWER_MS } = await import('../first-answer.js');
  try {
    const { clientEndsAtMs: _ofUser, ...facts } = await readCertificates(
      connection,
      AbortSignal.timeout(FIRST_ANSWER_MS),
    );
    return certificateProblems(certificatesOf(facts), nowMs);
  } catch {
    return [];
  }
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
