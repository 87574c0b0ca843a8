import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../src/client/api-client/index.js';
import { createEvictionResponder } from '../../src/controllers/deployment/index.js';
import { EVICTION_REQUEST_CONTROLLERS } from '../../src/controllers/eviction-request/index.js';
import type { Clock } from '../../src/machinery/clock/index.js';
import { FakeClock } from '../../src/machinery/clock/index.js';
import { Eviction, EvictionRequest, Pod } from '../../src/machinery/kubernetes/index.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { FakeInformers } from '../../src/testing/fake-informers.js';
import { aPod } from '../../src/testing/pod-builder.js';
import { isNightly } from '../../src/testing/property-runs.js';
import { runController } from '../../src/testing/run-controller.js';
import { describePassingKeys } from './support/passing-keys.js';

const MANY = isNightly ? 10_000 : 100;
/** Each is followed from its creation until the last of its objects was deleted, which takes 20 ms. */
const MOST_THAT_PASS = isNightly ? 2500 : 100;
const TIMEOUT_MS = 900_000;
/** Requests for one pod: its end wakes all of them together, and a run of a controller has at most 10 000 syncs. */
const MOST_OF_POD = 4000;
/** Requests that are made before the controllers run again. */
const AT_ONCE = 500;

/** The controllers of evictions by request, and the responder of Deployments, on one API in memory. */
class EvictionWorld {
  readonly cluster: FakeCluster;
  readonly informers: FakeInformers;
  private readonly controllers;
  private syncs = 0;

  constructor(clock: Clock = new FakeClock()) {
    this.cluster = new FakeCluster(clock);
    this.informers = new FakeInformers(this.cluster);
    const all = [...EVICTION_REQUEST_CONTROLLERS, createEvictionResponder(['apps/v1'])];
    this.controllers = all.map((each) =>
      runController(each, this.cluster, { clock, informers: this.informers }),
    );
    // The fake knows no evictions: they are refused as if a budget forbade them.
    const refusal = new ApiStatusError({ code: 429, reason: 'TooManyRequests', message: 'not now' });
    this.cluster.intercept = ({ subresource, verb }) =>
      verb === 'create' && subresource === 'eviction' ? refusal : undefined;
  }

  async rest(): Promise<void> {
    for (let before = -1; before !== this.cluster.requests.length;) {
      before = this.cluster.requests.length;
      for (const controller of this.controllers.toReversed()) {
        const { errors, syncs } = await controller.drain();
        this.syncs += syncs;
        for (const [key, error] of errors) {
          if (!(error instanceof ApiStatusError) || error.status.code !== 409) throw error;
          controller.add(key);
        }
      }
    }
  }

  pod(name: string, namespace = 'default'): void {
    const pod = aPod({ name, phase: 'Running' });
    pod.metadata = { ...pod.metadata, namespace, uid: `uid-of-${namespace}-${name}` };
    this.cluster.seed(Pod, pod);
  }

  request(name: string, pod: string, namespace = 'default'): void {
    this.cluster.seed<EvictionRequest>(EvictionRequest, {
      ...{ apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'EvictionRequest' },
      metadata: { name, namespace, generation: 1 },
      spec: {
        target: { pod: { name: pod, uid: `uid-of-${namespace}-${pod}` } },
        ...{ requester: `example.com/${name}`, intent: 'Eviction' },
      },
    });
  }

  /** How many syncs of keys and requests to the API some work takes. */
  async costOf(work: () => Promise<void>): Promise<number> {
    const cost = (): number => this.cluster.requests.length + this.syncs;
    const before = cost();
    await work();
    return cost() - before;
  }

  /** Many requests, from their creation until their pods were deleted. @param podOf the pod of the request of this number */
  async requestMany(count: number, podOf: (index: number) => string, namespace = 'default'): Promise<void> {
    const pods = new Set<string>();
    for (let index = 0; index < count; index++) {
      const pod = podOf(index);
      if (!pods.has(pod)) this.pod(pod, namespace);
      pods.add(pod);
      this.request(`r-${index}`, pod, namespace);
      if (index % AT_ONCE === AT_ONCE - 1) await this.rest();
    }
    await this.rest();
    for (const [index, pod] of [...pods].entries()) {
      this.cluster.vanish(Pod, `${namespace}/${pod}`);
      if (index % AT_ONCE === AT_ONCE - 1) await this.rest();
    }
    await this.rest();
  }
}

describePassingKeys([
  {
    name: 'requests of evictions, their evictions and pods',
    most: MOST_THAT_PASS,
    make(clock) {
      const world = new EvictionWorld(clock);
      const use = async (index: number): Promise<void> => {
        const [name, key] = [`r-${index}`, `default/r-${index}`];
        world.pod(`web-${index}`);
        world.request(name, `web-${index}`);
        await world.rest();
        world.cluster.vanish(Pod, `default/web-${index}`);
        await world.rest();
        world.cluster.vanish(EvictionRequest, key);
        // The garbage collector.
        world.cluster.vanish(Eviction, `default/pod-1-web-${index}`);
        await world.rest();
        world.cluster.requests.length = 0;
      };
      return { kept: [world.informers, EVICTION_REQUEST_CONTROLLERS], use };
    },
  },
]);

describe('the cost of requests of evictions', () => {
  const costOf = (count: number, podOf: (index: number) => string): Promise<number> => {
    const world = new EvictionWorld();
    return world.costOf(() => world.requestMany(count, podOf));
  };

  it.each<[string, number, (index: number) => string]>([
    ['a pod each', MANY, (index) => `web-${index}`],
    ['the same pod', Math.min(MANY, MOST_OF_POD), () => 'web'],
  ])(
    'is no more for each of many than for one alone, if they are for %s',
    { timeout: TIMEOUT_MS },
    async (_which, count, podOf) => {
      const alone = await costOf(1, podOf);
      expect(await costOf(count, podOf)).toBeLessThanOrEqual(count * alone);
    },
  );

  it('does not depend on the requests of other namespaces', async () => {
    const world = new EvictionWorld();
    const alone = await world.costOf(() => world.requestMany(1, () => 'web', 'quiet'));
    const count = Math.min(MANY, MOST_OF_POD);
    await world.requestMany(count, (index) => `web-${index % 10}`, 'busy');
    const beside = await world.costOf(() => world.requestMany(1, () => 'web-2', 'quiet'));
    expect(beside).toBe(alone);
  });

  it('grows no faster than the number of changes if a requester changes its mind again and again', async () => {
    const changes = async (count: number): Promise<number> => {
      const world = new EvictionWorld();
      world.pod('web');
      world.request('r', 'web');
      await world.rest();
      return world.costOf(async () => {
        for (let index = 0; index < count; index++) {
          const intent = index % 2 === 0 ? 'Withdrawn' : 'Eviction';
          const body = { spec: { intent } };
          await world.cluster.patch(
            EvictionRequest,
            { namespace: 'default', name: 'r' },
            { type: 'merge', body },
          );
          await world.rest();
        }
      });
    };
    const some = await changes(10);
    expect(await changes(100)).toBeLessThanOrEqual(10 * some);
  });
});
