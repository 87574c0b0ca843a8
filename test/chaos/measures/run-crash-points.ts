import type { ApiClient } from '../../../src/client/api-client/index.js';
import { Deployment } from '../../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../../src/testing/wait-for.js';
import { aDeployment } from '../../e2e/support/a-deployment.js';
import { PodsOfReplicaSetChecker } from '../checkers/pods-of-replicaset.js';
import { StoreReplay, isLiving } from '../checkers/store-replay.js';
import { History } from '../history.js';
import { LOAD_NAMESPACE } from '../namespaces.js';
import type { ChaosSet } from '../set/chaos-set.js';
import type { CrashPoint } from './crash-points.js';
import { crashAt } from './crash-points.js';

const MOST_PODS = 4;
const FEWEST_PODS = 1;
const CONVERGED_WITHIN_MS = 60_000;

export interface CrashResult {
  readonly point: CrashPoint;
  /** From the kill until the wanted number of pods was there and reported. */
  readonly convergedMs: number;
  /** Pods that were created in all; more than wanted means that one was created twice. */
  readonly created: number;
  readonly deleted: number;
  readonly violations: readonly string[];
}

/** Brings a Deployment to the point of the crash, makes the crash, and reads the outcome. */
export async function runCrashPoint(set: ChaosSet, point: CrashPoint, serial: number): Promise<CrashResult> {
  const { client } = set;
  const name = `crash-${serial}`;
  const ref = { namespace: LOAD_NAMESPACE, name };
  const isCreation = point.work === 'create';
  const history = new History(client, LOAD_NAMESPACE);
  await set.untilSettled();
  await history.start();
  try {
    await client.create(Deployment, aDeployment({ name, replicas: isCreation ? 0 : MOST_PODS }));
    await rolledOut(client, name);
    const wanted = isCreation ? MOST_PODS : FEWEST_PODS;
    const crashed = crashAt(point, set.replicas, (text) => text.includes(`${name}-`));
    await client.patch(Deployment, ref, { type: 'merge', body: { spec: { replicas: wanted } } });
    await crashed;
    const killedMs = performance.now();
    await rolledOut(client, name);
    const convergedMs = performance.now() - killedMs;
    await set.untilSettled();
    await history.untilComplete();
    return { point, convergedMs, ...summarize(history, name) };
  } finally {
    await history.stop();
    await client.delete(Deployment, ref);
  }
}

async function rolledOut(client: ApiClient, name: string): Promise<void> {
  await waitFor(
    async () => {
      const { metadata, spec, status } = await client.get<Deployment>(Deployment, {
        namespace: LOAD_NAMESPACE,
        name,
      });
      const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
      return (
        status?.observedGeneration === metadata.generation &&
        counts.every((count) => (count ?? 0) === spec.replicas)
      );
    },
    { timeoutMs: CONVERGED_WITHIN_MS, what: `${name} to be rolled out` },
  );
}

function summarize(history: History, name: string): Omit<CrashResult, 'point' | 'convergedMs'> {
  const replay = new StoreReplay();
  const checker = new PodsOfReplicaSetChecker(replay);
  const pods = new Set<string>();
  const ended = new Set<string>();
  const violations: string[] = [];
  for (const event of history.take()) {
    replay.apply(event);
    if (!event.object.metadata.name.startsWith(name)) continue;
    violations.push(...checker.check(event).map(({ problem }) => problem));
    if (event.kind !== 'Pod') continue;
    pods.add(event.object.metadata.uid ?? '');
    if (event.deleted || !isLiving(event.object as never)) ended.add(event.object.metadata.uid ?? '');
  }
  return { created: pods.size, deleted: ended.size, violations };
}
