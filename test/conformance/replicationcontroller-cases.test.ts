import { expect, it } from 'vitest';
import type { ConformanceFormat } from './conformance-format.js';
import type { ReplicaSetCase } from './replicaset-cases.js';
import {
  AS_REPLICATION_CONTROLLER,
  isForReplicationControllers,
  isReplicaSetCase,
  rulesOf,
  runReplicaSetCase,
} from './replicaset-cases.js';
import { runConformance } from './run-conformance.js';

const FILE = 'test/vectors/replicaset-sync-1.36.jsonl.gz';

let left = 0;

const replicationControllerCases: ConformanceFormat = {
  name: 'replicationcontroller',
  matches: isReplicaSetCase,
  async run(line) {
    const recorded = line as unknown as ReplicaSetCase;
    if (isForReplicationControllers(recorded))
      return runReplicaSetCase(withoutTerminating(recorded), AS_REPLICATION_CONTROLLER);
    left++;
    return [];
  },
  deliberate: async (line) =>
    rulesOf(line as unknown as ReplicaSetCase, await replicationControllerCases.run(line)),
};

/** The status of a ReplicationController does not count them. */
function withoutTerminating(recorded: ReplicaSetCase): ReplicaSetCase {
  const { terminatingReplicas: _, ...status } = (recorded.expect.status ?? {}) as Record<string, unknown>;
  return { ...recorded, expect: { ...recorded.expect, status } };
}

it('ReplicationControllers become what is recorded of ReplicaSets, where their selectors can be written as theirs', async () => {
  const failures: string[] = [];
  const totals = await runConformance(FILE, [replicationControllerCases], ({ differences, id, rules }) => {
    if (rules.length === 0) failures.push(`${id}\n  ${differences.join('\n  ')}`);
  });
  expect(failures.slice(0, 8).join('\n')).toBe('');
  expect(totals).toMatchObject({ failed: 0 });
  expect(left).toBeLessThan(totals.passed / 10);
}, 60_000);
