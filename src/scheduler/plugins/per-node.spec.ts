import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PodInfo } from '../framework/node-info.js';
import { countPodsSince } from './per-node.js';

const PODS = Array.from({ length: 12 }, (_, index) => ({ key: `web/pod-${index}` }) as PodInfo);
const isCounted = ({ key }: PodInfo): boolean => Number(key.split('-')[1]) % 3 !== 0;
const count = (pods: readonly PodInfo[]): number => pods.filter(isCounted).length;

describe('the count of a changed list of pods', () => {
  it('is that of all its pods, however the last list was ordered', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(PODS), fc.shuffledSubarray(PODS), (before, pods) => {
        expect(countPodsSince({ pods: before, answer: count(before) }, pods, isCounted)).toBe(count(pods));
      }),
    );
  });

  it('looks only at the pods that have gone and come', () => {
    const before = PODS.slice(0, 10);
    const pods = [...before.toSpliced(4, 1), PODS[10]!];
    const seen: string[] = [];
    countPodsSince({ pods: before, answer: count(before) }, pods, (pod) => {
      seen.push(pod.key);
      return isCounted(pod);
    });
    expect(seen).toEqual(['web/pod-4', 'web/pod-10']);
  });
});
