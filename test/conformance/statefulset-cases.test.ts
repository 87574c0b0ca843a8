import { expect, it } from 'vitest';
import { documentedDifferences } from '../support/documented-differences.js';
import { runConformance } from './run-conformance.js';
import { statefulSetCases } from './statefulset-cases.js';

const FILE = 'test/vectors/statefulset-sync-1.36.jsonl.gz';

it('the StatefulSet controller leaves every recorded state as that of Kubernetes 1.36 did, but for documented Events', async () => {
  const documented = documentedDifferences('statefulset');
  const failures = new Map<string, readonly string[]>();
  const totals = await runConformance(FILE, [statefulSetCases], ({ differences, id }) => {
    failures.set(id, differences);
  });
  expect([...failures].filter(([id]) => !documented.includes(id)).slice(0, 8)).toEqual([]);
  expect([...failures.keys()]).toEqual(documented);
  expect([...failures.values()].flat().filter((difference) => !difference.startsWith('events['))).toEqual([]);
  expect(totals.passed + totals.failed).toBe(174);
});
