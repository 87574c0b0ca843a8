import type { ApiClient } from '@rollkeeper/client/api-client';
import { apiStatusOf } from '@rollkeeper/client/api-client';
import { EXPERIMENT, EXPERIMENT_STOP, keepsExperiment } from '@rollkeeper/controllers/deployment';
import type { Clock } from '@rollkeeper/machinery/clock';
import { UnsupportedError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import type { ExperimentReport } from './experiment-report.js';
import { reportExperiment } from './experiment-report.js';

const LOOK_EVERY_MS = 1000;

/** The experiments that are kept, oldest first. @param namespace undefined: those of all namespaces */
export async function listExperiments(
  client: ApiClient,
  namespace: string | undefined,
  signal?: AbortSignal,
): Promise<readonly ExperimentReport[]> {
  const { items } = await client.list<ReplicaSet>(ReplicaSet, {
    namespace,
    labelSelector: EXPERIMENT,
    signal,
  });
  return items
    .filter(keepsExperiment)
    .toSorted((a, b) => Date.parse(createdAt(a)) - Date.parse(createdAt(b)))
    .map((keeper) => reportExperiment(keeper, items));
}

function createdAt({ metadata }: DeepReadonly<ReplicaSet>): string {
  return metadata.creationTimestamp ?? '';
}

interface Named {
  readonly namespace: string;
  /** The name of one run, or of its file: then the newest run is meant. */
  readonly name: string;
}

/** One experiment. @throws UnsupportedError if there is none of the name */
export async function readExperiment(
  client: ApiClient,
  { name, namespace }: Named,
  signal?: AbortSignal,
): Promise<ExperimentReport> {
  const all = await listExperiments(client, namespace, signal);
  const found =
    all.find(({ experiment }) => experiment === name) ??
    all.findLast(({ experiment }) => experiment.slice(0, experiment.lastIndexOf('-')) === name);
  if (!found) throw new UnsupportedError(`there is no experiment ${name} in namespace ${namespace}`);
  return found;
}

/** Asks for the end of an experiment; one that has ended stays as it is. Returns the report from before. */
export async function stopExperiment(client: ApiClient, named: Named, by: string): Promise<ExperimentReport> {
  const report = await readExperiment(client, named);
  if (report.ended !== undefined) return report;
  const ref = { namespace: named.namespace, name: report.experiment };
  const body = { metadata: { annotations: { [EXPERIMENT_STOP]: by } } };
  await client.patch<ReplicaSet>(ReplicaSet, ref, { type: 'merge', body });
  return report;
}

/**
 * Waits for the end of an experiment.
 * @param show hears of each change
 * @returns the last report; one without an end if the time was over before
 */
export async function waitForExperiment(
  client: ApiClient,
  named: Named,
  {
    clock,
    show,
    signal,
    timeoutMs,
  }: {
    readonly clock: Clock;
    readonly show: (report: ExperimentReport) => void;
    readonly signal: AbortSignal;
    readonly timeoutMs: number;
  },
): Promise<ExperimentReport> {
  const endsAt = clock.monotonicNow() + timeoutMs;
  let shown = '';
  for (;;) {
    const isLate = clock.monotonicNow() >= endsAt;
    try {
      const report = await readExperiment(client, named, signal);
      const text = JSON.stringify(report);
      if (text !== shown) show(report);
      shown = text;
      if (report.ended !== undefined || isLate) return report;
    } catch (error) {
      if (isLate || signal.aborted || !mayPass(error)) throw error;
    }
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}

/** Whether the next look may succeed: the experiment goes on while the API server restarts. */
function mayPass(error: unknown): boolean {
  if (error instanceof UnsupportedError) return false;
  return (apiStatusOf(error)?.code ?? 500) >= 500;
}
