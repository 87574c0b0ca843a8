import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../../src/machinery/kubernetes/index.js';
import { HeldSizesChecker } from '../../chaos/checkers/held-sizes.js';
import { OrderChecker } from '../../chaos/checkers/order.js';
import { StoreReplay } from '../../chaos/checkers/store-replay.js';
import type { HistoryEvent, RecordedKind } from '../../chaos/history.js';
import type { Violation } from '../../chaos/checkers/violation.js';

const P = 'rollkeeper.dev/';
const A_WHILE_MS = 20_000;

/** A store whose changes are judged, and then applied. */
function storeUnder(check: (replay: StoreReplay) => { check: (event: HistoryEvent) => Violation[] }) {
  const replay = new StoreReplay();
  const checker = check(replay);
  let revision = 0;
  let nowMs = 0;
  const change = (kind: RecordedKind, name: string, rest: object): readonly string[] => {
    revision += 1;
    const { metadata = {}, ...body } = rest as { metadata?: object };
    const own = { name, uid: name, generation: 1, ...metadata };
    const object = { apiVersion: 'apps/v1', kind, metadata: own, ...body } as KubernetesObject;
    const event = { kind, deleted: false, object, resourceVersion: String(revision), seenAtMs: nowMs };
    const found = checker.check(event);
    replay.apply(event);
    return found.map(({ problem }) => problem.replace(/ \(revision.*/, ''));
  };
  return { change, wait: () => (nowMs += A_WHILE_MS) };
}

const owners = (uid: string) => [
  { apiVersion: 'apps/v1', kind: 'Deployment', name: uid, uid, controller: true },
];

describe('the check of order', () => {
  function twoDeployments(release: string, availableReplicas: number) {
    const { change, wait } = storeUnder((replay) => new OrderChecker(replay));
    const replicas = 2;
    const status = { observedGeneration: 1, replicas, updatedReplicas: replicas, availableReplicas };
    change('Deployment', 'schema', {
      ...{ metadata: { annotations: { [`${P}release`]: 'r1' } }, spec: { replicas }, status },
    });
    const annotations = { [`${P}release`]: release, [`${P}after`]: 'deployment/schema@complete' };
    change('Deployment', 'web', { metadata: { annotations }, spec: { replicas } });
    const begin = () => change('ReplicaSet', 'web-1', { metadata: { ownerReferences: owners('web') } });
    return { begin, change, wait };
  }

  it('lets a version begin after a predecessor of its release that is complete', () => {
    expect(twoDeployments('r1', 2).begin()).toEqual([]);
  });

  it.each([
    ['is not complete', 'r1', 1],
    ['is of another release', 'r2', 2],
  ])('sees a version that begins while its predecessor %s', (_, release, available) => {
    expect(twoDeployments(release, available).begin()).toEqual(['web-1 began before schema was complete']);
  });

  it('lets a cache lag, and not for long', () => {
    const { begin, change, wait } = twoDeployments('r1', 2);
    change('Deployment', 'schema', { metadata: { annotations: { [`${P}release`]: 'r2' } }, spec: {} });
    wait();
    change('Pod', 'other', {});
    expect(begin()).toEqual(['web-1 began before schema was complete']);
  });
});

describe('the check of held sizes', () => {
  function inRollout(autoscaling: string, replicas: number) {
    let checker: HeldSizesChecker | undefined;
    const { change } = storeUnder((replay) => (checker = new HeldSizesChecker(replay)));
    change('Deployment', 'web', {
      metadata: { annotations: { [`${P}autoscaling`]: autoscaling } },
      ...{ spec: { replicas }, status: { observedGeneration: 1 } },
    });
    const set = (revision: number, size: number, desired: number) =>
      change('ReplicaSet', `web-${revision}`, {
        metadata: {
          ownerReferences: owners('web'),
          annotations: {
            'deployment.kubernetes.io/revision': String(revision),
            'deployment.kubernetes.io/desired-replicas': String(desired),
            ...(revision === 2 && { [`${P}size-at-start`]: '10' }),
          },
        },
        spec: { replicas: size },
      });
    set(1, 8, 10);
    set(2, 2, 10);
    return { set, checks: () => checker?.checks };
  }

  it.each(['hold', 'floor'])('sees a part of a smaller size in a rollout: %s', (mode) => {
    expect(inRollout(mode, 4).set(1, 3, 4)).toEqual([
      'web-1 became a part of 4 pods in a rollout that began with 10',
    ]);
  });

  it('lets the size grow under floor alone', () => {
    expect(inRollout('floor', 20).set(1, 16, 20)).toEqual([]);
    expect(inRollout('hold', 20).set(1, 16, 20)).toHaveLength(1);
  });

  it('counts the writes in rollouts whose Deployment has another size by now', () => {
    for (const [replicas, checks] of [
      [4, 1],
      [10, 0],
    ] as const) {
      const rollout = inRollout('hold', replicas);
      expect(rollout.set(1, 7, 10)).toEqual([]);
      expect(rollout.checks()).toBe(checks);
    }
  });

  it('lets every size count once the rollout is over', () => {
    const { set } = inRollout('hold', 4);
    set(1, 0, 10);
    expect(set(2, 4, 4)).toEqual([]);
  });
});
