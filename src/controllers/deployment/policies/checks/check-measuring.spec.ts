import { describe, expect, it } from 'vitest';
import type { ReplicaSet } from '../../../../machinery/kubernetes/index.js';
import { CheckMeasuring } from './check-measuring.js';
import type { DueCheck } from './check-needs.js';
import type { JobRuns } from './measure-job.js';
import type { CheckMeter, MeasureContext } from './measure-checks.js';

const context: MeasureContext = {
  client: {} as MeasureContext['client'],
  signal: new AbortController().signal,
  nowMs: () => 0,
  tell: () => undefined,
};

function aSet(namespace: string, name: string): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { namespace, name },
    spec: { selector: {} },
  };
}

/** A check whose measurement runs for a time, as that of a Job does. */
const due = {
  definition: { kind: 'job', intervalMs: 60_000 },
  run: { job: 'a' },
} as unknown as DueCheck;

describe('the measuring of checks', () => {
  it.each([4, 10])(
    'leaves a place to other namespaces while none of the checks of one is answered, with %s workers',
    async (workers) => {
      const { promise: silence, resolve: answer } = Promise.withResolvers<JobRuns>();
      const asked: string[] = [];
      const meter = {
        measure: (_due: DueCheck, { replicaSet }: { replicaSet: { metadata: ReplicaSet['metadata'] } }) => {
          const { name, namespace = '' } = replicaSet.metadata;
          asked.push(`${namespace}/${name}`);
          return namespace === 'greedy' ? silence : Promise.resolve({ job: 'a' });
        },
      } as unknown as CheckMeter;
      const measuring = new CheckMeasuring(meter, workers);
      const greedy = Array.from({ length: 20 }, (_, index) =>
        measuring.measure([due], aSet('greedy', `rollout-${index}`), context),
      );
      expect(asked.length).toBeLessThan(workers / 2);
      expect(asked.length).toBeGreaterThan(0);
      const modest = await measuring.measure([due], aSet('modest', 'web'), context);
      expect(asked).toContain('modest/web');
      expect(modest).toEqual({ lookAgainAfterMs: 60_000 });
      answer({ job: 'a' });
      await Promise.all(greedy);
    },
  );

  it('looks ever more rarely for a place that is not there', async () => {
    const { promise: silence } = Promise.withResolvers<never>();
    const meter: CheckMeter = { measure: () => silence };
    const measuring = new CheckMeasuring(meter, 4);
    void measuring.measure([due], aSet('a', 'first'), context);
    const waits: number[] = [];
    for (let time = 0; time < 6; time++)
      waits.push((await measuring.measure([due], aSet('a', 'second'), context)).lookAgainAfterMs);
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 8000]);
  });
});
