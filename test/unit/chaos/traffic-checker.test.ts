import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../../src/machinery/kubernetes/index.js';
import { TrafficChecker } from '../../chaos/checkers/traffic.js';
import type { HistoryEvent, RecordedKind } from '../../chaos/history.js';

/** The changes of a store, a second after each other. */
class Recorded {
  readonly checker = new TrafficChecker();
  private revision = 0;

  constructor() {
    for (const [service, hash] of [
      ['web-stable', 'old'],
      ['web-canary', 'new'],
    ] as const)
      this.change('Service', service, { spec: { selector: { app: 'web', hash } } });
    this.route([100, 0]);
  }

  pod(name: string, hash: string, isReady: boolean, deleted = false): void {
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
    const labels = { app: 'web', hash };
    this.change('Pod', name, { metadata: { name, uid: name, labels }, status: { conditions } }, deleted);
  }

  /** Returns the problems of a route with these weights. */
  route(weights: readonly number[], added = 0): readonly string[] {
    const backendRefs = ['web-stable', 'web-canary'].map((name, at) => ({ name, weight: weights[at] }));
    const rules = [{ backendRefs }, ...Array.from({ length: added }, () => ({ name: 'rollkeeper.web.1' }))];
    return this.change('HTTPRoute', 'web', { spec: { rules } });
  }

  seconds(count: number): void {
    this.revision += count;
  }

  private change(kind: RecordedKind, name: string, rest: object, deleted = false): readonly string[] {
    this.revision += 1;
    const object = { apiVersion: 'v1', kind, metadata: { name, uid: name }, ...rest } as KubernetesObject;
    const [resourceVersion, seenAtMs] = [String(this.revision), this.revision * 1000];
    const event: HistoryEvent = { kind, deleted, object, resourceVersion, seenAtMs };
    return this.checker.check(event).map(({ problem }) => problem.replace(/ \(revision.*/, ''));
  }
}

describe('the check of routes that rollouts lead', () => {
  it('finds weights that are not 100 together', () => {
    expect(new Recorded().route([60, 20])).toEqual(['the weights are 60 and 20']);
  });

  it('finds a share for a version that has no pod while the other has one', () => {
    const recorded = new Recorded();
    recorded.pod('a', 'old', true);
    expect(recorded.route([80, 20])).toEqual(['web-canary gets more requests (80/20), and has no pod']);
    recorded.pod('b', 'new', false);
    expect(recorded.route([50, 50])).toHaveLength(1);
    recorded.pod('b', 'new', true);
    expect(recorded.route([20, 80])).toEqual([]);
  });

  it('finds an added rule that leads to no pod, and a way back to none', () => {
    const recorded = new Recorded();
    recorded.pod('a', 'old', true);
    expect(recorded.route([100, 0], 1)).toHaveLength(1);
    recorded.pod('b', 'new', true);
    expect(recorded.route([0, 100], 1)).toEqual([]);
    recorded.pod('a', 'old', false, true);
    recorded.seconds(60);
    expect(recorded.route([100, 0])).toEqual(['web-stable gets more requests (100/0), and has no pod']);
  });

  it('lets a cache lag, and counts no version where neither has a pod', () => {
    const recorded = new Recorded();
    expect(recorded.route([80, 20])).toEqual([]);
    recorded.pod('a', 'old', true);
    recorded.pod('b', 'new', true);
    recorded.pod('b', 'new', true, true);
    expect(recorded.route([50, 50])).toEqual([]);
    recorded.seconds(60);
    recorded.pod('c', 'other', false);
    expect(recorded.route([20, 80])).toHaveLength(1);
  });
});
