import { describe, expect, it } from 'vitest';
import type { Pod, Taint, Toleration } from '../../machinery/kubernetes/index.js';
import type { ScheduledEviction } from './decide-evictions.js';
import { decideEvictions } from './decide-evictions.js';
import { podOf } from '../../testing/pod-builder.js';

const NOW_MS = Date.parse('2026-07-01T12:00:00Z');
const NONE: ReadonlyMap<string, ScheduledEviction> = new Map();
const taint = (key: string, timeAdded?: string): Taint => ({ key, effect: 'NoExecute', timeAdded });
const tolerating = (key: string, tolerationSeconds?: number): Toleration => ({
  ...{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds },
});
const toleratingPod = (...tolerations: readonly Toleration[]): Pod =>
  podOf({
    metadata: { namespace: 'shop', uid: 'u-1' },
    spec: { nodeName: 'node-1', tolerations: [...tolerations] },
  });
const named = (pods: readonly { readonly metadata: { readonly name: string } }[]) =>
  pods.map(({ metadata }) => metadata.name);

describe('a pod under a NoExecute taint', () => {
  it('is evicted at once where it does not tolerate the taint', () => {
    expect(named(decideEvictions([toleratingPod()], [taint('hot')], NONE, NOW_MS).evict)).toEqual(['web']);
  });

  it.each<[string, string | undefined]>([
    ['says no time', undefined],
    ['is an hour old', '2026-07-01T11:00:00Z'],
    ['is of the future', '2026-07-01T13:00:00Z'],
  ])('stays for its tolerationSeconds from when it is first seen, where the taint %s', (_when, timeAdded) => {
    const pods = [toleratingPod(tolerating('hot', 4))];
    const first = decideEvictions(pods, [taint('hot', timeAdded)], NONE, NOW_MS);
    expect(first).toMatchObject({ evict: [], cancelled: [], nextInMs: 4000 });
    const second = decideEvictions(pods, [taint('hot', timeAdded)], first.scheduled, NOW_MS + 3000);
    expect(second).toMatchObject({ evict: [], nextInMs: 1000 });
    const third = decideEvictions(pods, [taint('hot', timeAdded)], second.scheduled, NOW_MS + 4000);
    expect(named(third.evict)).toEqual(['web']);
    expect([third.scheduled.size, third.cancelled, third.nextInMs]).toEqual([0, [], undefined]);
  });

  it('stays for ever where no toleration has seconds, and for the shortest of several taints', () => {
    const ever = decideEvictions([toleratingPod(tolerating('hot'))], [taint('hot')], NONE, NOW_MS);
    expect([ever.evict, ever.nextInMs]).toEqual([[], undefined]);
    const pods = [toleratingPod(tolerating('hot', 60), tolerating('wet', 5), tolerating('loud'))];
    const taints = [taint('hot'), taint('wet'), taint('loud')];
    expect(decideEvictions(pods, taints, NONE, NOW_MS).nextInMs).toBe(5000);
  });

  it('stays where it may not be placed but may remain, and goes at once with seconds below zero', () => {
    const noSchedule: Taint = { key: 'hot', effect: 'NoSchedule' };
    expect(decideEvictions([toleratingPod()], [noSchedule], NONE, NOW_MS).evict).toEqual([]);
    expect(
      decideEvictions([toleratingPod(tolerating('hot', -5))], [taint('hot')], NONE, NOW_MS).evict,
    ).toHaveLength(1);
  });

  it('goes by the first of several tolerations of a taint', () => {
    const pods = [toleratingPod(tolerating('hot', 60), tolerating('hot', 1))];
    expect(decideEvictions(pods, [taint('hot')], NONE, NOW_MS).nextInMs).toBe(60_000);
  });

  it('keeps its time when further taints come, and its seconds are counted from then', () => {
    const pods = [toleratingPod(tolerating('hot', 60), tolerating('wet', 5))];
    const { scheduled } = decideEvictions(pods, [taint('hot')], NONE, NOW_MS);
    const both = decideEvictions(pods, [taint('hot'), taint('wet')], scheduled, NOW_MS + 50_000);
    expect(both).toMatchObject({ evict: [], nextInMs: 10_000 });
  });

  const waits = decideEvictions(
    [toleratingPod(tolerating('hot', 60))],
    [taint('hot')],
    NONE,
    NOW_MS,
  ).scheduled;
  it.each<[string, readonly Pod[], readonly Taint[], readonly string[]]>([
    ['the taint has gone', [toleratingPod(tolerating('hot', 60))], [], []],
    ['it tolerates the taint for ever now', [toleratingPod(tolerating('hot'))], [taint('hot')], []],
    ['it has gone', [], [taint('hot')], []],
    [
      'it tolerates another taint not at all',
      [toleratingPod(tolerating('hot', 60))],
      [taint('cold')],
      ['web'],
    ],
  ])('has its scheduled eviction cancelled where %s', (_why, pods, taints, evicted) => {
    const plan = decideEvictions(pods, taints, waits, NOW_MS + 1000);
    expect([named(plan.cancelled), named(plan.evict), plan.scheduled.size]).toEqual([['web'], evicted, 0]);
  });

  it('is not deleted again while it is being deleted', () => {
    const leaving = toleratingPod(tolerating('hot', 1));
    leaving.metadata.deletionTimestamp = '2026-07-01T12:00:01Z';
    const { scheduled } = decideEvictions(
      [toleratingPod(tolerating('hot', 1))],
      [taint('hot')],
      NONE,
      NOW_MS,
    );
    const plan = decideEvictions([leaving], [taint('hot')], scheduled, NOW_MS + 2000);
    expect([plan.evict, plan.cancelled, plan.nextInMs]).toEqual([[], [], undefined]);
    leaving.spec.tolerations = [];
    expect(decideEvictions([leaving], [taint('hot')], NONE, NOW_MS).evict).toEqual([]);
  });
});
