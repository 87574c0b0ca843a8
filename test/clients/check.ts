import type { TestCluster } from '../../src/testing/cluster/index.js';

/** The cluster and the namespace in which a check is carried out. */
export interface Place {
  readonly cluster: TestCluster;
  /** The namespace that belongs to this check alone, and is empty. */
  readonly namespace: string;
}

/** One thing that a client must be able to do with the cluster. Rejects where it is not as on a genuine one. */
export interface ClientCheck {
  /** A rule in plain words. */
  readonly name: string;
  run(place: Place): Promise<void>;
}

export interface CheckResult {
  readonly name: string;
  /** Why it did not pass. */
  readonly error?: string;
}

/** A client that knows the Kubernetes API and nothing of this server. */
export interface ForeignClient {
  readonly name: string;
  /** Names in one sentence what the client needs and this machine has not; undefined if it has everything. */
  missing(): Promise<string | undefined>;
  version(): Promise<string>;
  /** Carries out its checks one after the other. */
  check(cluster: TestCluster): AsyncIterable<CheckResult>;
}

/** Generous, because a machine may be busy: nothing takes so long. */
export const PATIENT = { timeoutMs: 60_000 };

/** In a namespace of its own, which goes with it. */
export async function runCheck(check: ClientCheck, cluster: TestCluster, namespace: string): Promise<void> {
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  try {
    await check.run({ cluster, namespace });
  } finally {
    await cluster.delete(`namespace/${namespace}`);
  }
}
