import type { ClusterConnection } from '@rollkeeper/client/api-client';
import type { Diagnosis, SeenReplica } from '../diagnose/index.js';
import { certificateProblems, replicaProblems } from '../diagnose/index.js';
import { certificatesOf } from './certificates.js';
import { readCertificates } from './read-certificates.js';

/** The sources of problems beside the objects of a cluster. */
export interface BesideSources {
  /** The replicas as another one sees them. */
  readonly replicas: () => Promise<readonly SeenReplica[]>;
  /** To the API server. */
  readonly connection: Pick<ClusterConnection, 'proxyUrl' | 'serverUrl' | 'tls'>;
  /** Epoch milliseconds. */
  readonly nowMs: number;
  /** How long the API server's handshake may take, milliseconds. */
  readonly withinMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Problems beside the objects of a cluster: replicas that hang, and the certificate and the authority of the API server, if they end
 * within a day. A certificate of a user may be made for a day each day. What cannot be asked is left out.
 */
export async function findProblemsBeside(sources: BesideSources): Promise<readonly Diagnosis[]> {
  const { nowMs, replicas } = sources;
  const [seen, certificates] = await Promise.all([replicas().catch(() => []), certificatesIn(sources)]);
  return [...replicaProblems(seen), ...certificateProblems(certificates, nowMs)];
}

async function certificatesIn({
  connection,
  signal,
  withinMs,
}: BesideSources): Promise<ReturnType<typeof certificatesOf>> {
  const limits = [AbortSignal.timeout(withinMs), ...(signal ? [signal] : [])];
  try {
    const { clientEndsAtMs: _ofUser, ...facts } = await readCertificates(connection, AbortSignal.any(limits));
    return certificatesOf(facts);
  } catch {
    return [];
  }
}
