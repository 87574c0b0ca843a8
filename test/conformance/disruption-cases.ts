import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { StatefulSet, PodDisruptionBudget } from '@rollkeeper/runtime';
import { disruptionController } from '../../src/controllers/disruption/disruption-controller.js';
import type { ConformanceFormat, Json, JsonObject } from './conformance-format.js';
import { isJsonObject, mapStrings } from './conformance-format.js';
import { differences } from './differences.js';
import { InMemoryApi } from '../../src/testing/in-memory/in-memory-api.js';
import { ReconcilerRun, wholeSeconds } from '../../src/testing/in-memory/run-reconciler.js';
import { StandingClock } from '../../src/testing/in-memory/standing-clock.js';

interface DisruptionCase {
  readonly now: string;
  readonly given: {
    readonly podDisruptionBudget: PodDisruptionBudget;
    readonly pods?: readonly Pod[] | null;
    readonly replicaSets?: readonly ReplicaSet[] | null;
    readonly deployments?: readonly Deployment[] | null;
    readonly statefulSets?: readonly StatefulSet[] | null;
  };
  readonly expect: {
    readonly status: Json;
    readonly events: Json;
    readonly writes: number;
    readonly requeueAfter?: number;
  };
}

/** A state, and what one run of the genuine disruption controller made of it. */
export const disruptionCases: ConformanceFormat = {
  name: 'disruption',
  matches: ({ expect, given }) =>
    isJsonObject(given) && isJsonObject(given.podDisruptionBudget) && isJsonObject(expect),
  run: (recorded) => runDisruptionCase(recorded as unknown as DisruptionCase),
};

async function runDisruptionCase({ expect, given, now }: DisruptionCase): Promise<string[]> {
  const api = new InMemoryApi();
  const budget = api.seed(PodDisruptionBudget, given.podDisruptionBudget);
  const seedAll = (
    type: Parameters<InMemoryApi['seed']>[0],
    objects: readonly KubernetesObject[] | null = [],
  ) => objects?.forEach((object) => api.seed(type, object));
  seedAll(Pod, given.pods);
  seedAll(ReplicaSet, given.replicaSets);
  seedAll(Deployment, given.deployments);
  seedAll(StatefulSet, given.statefulSets);
  const run = new ReconcilerRun(disruptionController, api, new StandingClock(Date.parse(now)));
  const { requeueAfterMs } = await run.once(budget.metadata);
  const after = await api.get<PodDisruptionBudget>(PodDisruptionBudget, budget.metadata);
  const runTime = toRfc3339(Date.parse(now));
  const actual = {
    status: mapStrings(after.status as unknown as JsonObject, (text) => (text === runTime ? '<now>' : text)),
    events: run.notes.map(({ message, reason, type }) => `${type} ${reason} ${message}`).sort(),
    writes: api.writes.length,
    requeueAfter: wholeSeconds(requeueAfterMs),
  };
  return differences(expect, actual);
}
