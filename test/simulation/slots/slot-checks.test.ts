import { describe, expect, it } from 'vitest';
import type { RunningReplica } from '../../../src/testing/simulation/index.js';
import type { Violation } from '../../chaos/checkers/violation.js';
import { SlotChecks } from './slot-checks.js';
import { SLOTS, SLOT_NAMESPACES, probesOf } from './slot-namespaces.js';
import { shardHash, shardIndexOf } from '../../../src/machinery/kubernetes/index.js';

const KEY = 'simulated:slots-2';
const [FIRST = '', SECOND = ''] = probesOf(2);

/** Two slots, and replicas that each tell of some probes. */
function checksOf(
  told: Readonly<Record<string, readonly string[]>>,
  table: readonly [string, string][] = [],
) {
  const violations: Violation[] = [];
  const replicas = Object.entries(told).map(([name, probes]) => ({
    hasEnded: false,
    process: { name, state: 'running' },
    manager: { tellsOf: (namespace: string) => probes.includes(namespace) },
  })) as unknown as readonly RunningReplica[];
  const checks = new SlotChecks({
    slots: 2,
    found: (violation) => void violations.push(violation),
    replicas: () => replicas,
    table: () => new Map(table),
  });
  return { checks, violations };
}

const assign = (epoch: string): readonly string[] => [
  ...['EVALSHA', 'sha', '1', KEY, epoch, 'a', `${KEY}:changed`, '[]'],
];

describe('the checks of slots', () => {
  it('accept one owner of each slot for any time', () => {
    const { checks, violations } = checksOf({ a: [FIRST], b: [SECOND] });
    checks.setCalm(true);
    for (const nowMs of [0, 59_000, 200_000]) checks.judge(nowMs);
    expect(checks.unrest()).toEqual([]);
    expect(violations).toEqual([]);
  });

  it('report a slot that has no owner, and one that has two, after a minute without faults', () => {
    const { checks, violations } = checksOf({ a: [FIRST], b: [FIRST] });
    checks.judge(0);
    checks.setCalm(true);
    checks.judge(100_000);
    expect(violations).toEqual([]);
    checks.judge(160_001);
    expect(violations.map(({ problem }) => problem)).toEqual([
      'has the owners a and b for 60000 ms',
      'has no owner for 60000 ms',
    ]);
  });

  it('report an assignment of another term than the one that began last, unless it was refused', () => {
    const { checks, violations } = checksOf({}, [
      ['epoch', '4'],
      ['holder', 'a'],
    ]);
    checks.seeRequest(assign('4'), '*0');
    checks.seeRequest(assign('3'), '-SUPERSEDED 4');
    expect(violations).toEqual([]);
    checks.seeRequest(assign('3'), '*0');
    expect(violations.map(({ problem }) => problem)).toEqual(['term 3 assigns while term 4 counts']);
  });

  it('read the holders of slots as processes', () => {
    const { checks } = checksOf({}, [['1', '[7,"replica-0.1_0c-1","replica-1.2_0c-2"]']]);
    expect(checks.stored()).toEqual([{ epoch: 7, owner: 'replica-0.1', standby: 'replica-1.2' }]);
  });
});

it('the namespaces of a world are in different slots', () => {
  const slots = SLOT_NAMESPACES.map((name) => shardIndexOf(shardHash(name), SLOTS));
  expect(new Set(slots).size).toBe(SLOT_NAMESPACES.length);
});
