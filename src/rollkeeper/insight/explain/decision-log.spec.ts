import { describe, expect, it } from 'vitest';
import type { LoggedDecision } from './decision-log.js';
import { DecisionLog } from './decision-log.js';

const decision = (key: string, atMs: number, more: Partial<LoggedDecision> = {}): LoggedDecision => ({
  atMs,
  controller: 'deployment',
  key,
  replica: 'controller-0',
  actions: [`at ${atMs}`],
  ...more,
});

describe('the decision log', () => {
  it('keeps the last decisions of a key, newest first', () => {
    const log = new DecisionLog({ perKey: 2 });
    for (const atMs of [1, 2, 3]) log.add(decision('default/web', atMs));
    expect(log.of('deployment', 'default/web').map(({ atMs }) => atMs)).toEqual([3, 2]);
    expect(log.of('replicaset', 'default/web')).toEqual([]);
  });

  it('forgets the key that was decided longest ago', () => {
    const log = new DecisionLog({ keys: 2 });
    log.add(decision('a', 1));
    log.add(decision('b', 2));
    log.add(decision('a', 3));
    log.add(decision('c', 4));
    expect(log.of('deployment', 'b')).toEqual([]);
    expect(log.of('deployment', 'a')).toHaveLength(2);
  });

  it('counts the same failure again and again as one', () => {
    const log = new DecisionLog();
    for (const atMs of [1, 2]) log.add(decision('a', atMs, { actions: [], error: 'no' }));
    expect(log.of('deployment', 'a').map(({ atMs }) => atMs)).toEqual([2]);
  });

  it('tells listeners until they leave', () => {
    const log = new DecisionLog();
    const heard: number[] = [];
    const leave = log.onDecision(({ atMs }) => heard.push(atMs));
    log.add(decision('a', 1));
    leave();
    log.add(decision('a', 2));
    expect(heard).toEqual([1]);
    expect(log.since(1, 10).map(({ atMs }) => atMs)).toEqual([2]);
  });
});
