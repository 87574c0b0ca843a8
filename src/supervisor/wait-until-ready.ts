import type { Clock } from '../clock/index.js';
import { StartupError } from '../errors/index.js';
import type { ProbedReplica } from './replica-probe.js';
import { isReady, leads } from './replica-probe.js';

const POLL_MS = 50;
const TIMEOUT_MS = 60_000;

/**
 * Resolves once every replica is ready and one of them leads.
 * @throws StartupError naming what is missing after a minute
 */
export async function waitUntilReady(
  replicas: readonly (ProbedReplica & { readonly identity: string })[],
  token: string | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const deadlineMs = clock.monotonicNow() + TIMEOUT_MS;
  for (;;) {
    const unready = await replicasThat(replicas, async (replica) => !(await isReady(replica)));
    const leading =
      unready.length > 0 ? [] : await replicasThat(replicas, (replica) => leads(replica, token));
    if (leading.length > 0) return;
    if (clock.monotonicNow() > deadlineMs) {
      const missing = unready.length > 0 ? `not ready: ${unready.join(', ')}` : 'no replica leads';
      throw new StartupError(`waited ${TIMEOUT_MS / 1000} s; ${missing}`);
    }
    await clock.sleep(POLL_MS, signal);
  }
}

async function replicasThat<Replica extends { readonly identity: string }>(
  replicas: readonly Replica[],
  test: (replica: Replica) => Promise<boolean>,
): Promise<string[]> {
  const answers = await Promise.all(replicas.map(test));
  return replicas.filter((_, index) => answers[index]).map(({ identity }) => identity);
}
