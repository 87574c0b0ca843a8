import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../../src/machinery/kubernetes/index.js';
import { StoreReplay } from '../../chaos/checkers/store-replay.js';
import { TrafficChecker } from '../../chaos/checkers/traffic.js';
import type { HistoryEvent, RecordedKind } from '../../chaos/history.js';
import { aLedRoute } from '../../chaos/led-routes.js';

/** The fields of an object beside its names. */
interface Changed {
  readonly metadata?: Partial<KubernetesObject['metadata']>;
  readonly [field: string]: unknown;
}

/** The changes of a store with a Deployment of two versions, a second after each other. */
class Recorded {
  private readonly replay = new StoreReplay();
  private readonly checker = new TrafficChecker(this.replay);
  private revision = 0;

  constructor(annotations: Readonly<Record<string, string>> = {}) {
    const traffic = { 'rollkeeper.dev/traffic': 'httproute/web', 'rollkeeper.dev/traffic-drain': '5s' };
    this.change('Deployment', 'web', {
      metadata: { generation: 1, annotations: { ...traffic, ...annotations } },
      spec: { replicas: 2 },
    });
    this.select('web-stable', 'old');
    this.select('web-canary', 'new');
    for (const hash of ['old', 'new']) this.size(hash, 2);
    this.route([100, 0]);
  }

  pod(name: string, hash: string, isReady: boolean, deleted = false): void {
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
    const metadata = { ownerReferences: [ownedBy('ReplicaSet', hash)] };
    this.change('Pod', name, { metadata, status: { conditions } }, deleted);
  }

  /** The ready endpoints of a Service. */
  endpoints(service: string, pods: readonly string[]): void {
    const endpoints = pods.map((name) => ({ conditions: { ready: true }, targetRef: { kind: 'Pod', name } }));
    const metadata = { labels: { 'kubernetes.io/service-name': service } };
    this.change('EndpointSlice', service, { metadata, endpoints });
  }

  select(service: string, hash: string): readonly string[] {
    const selector = { app: 'web', 'pod-template-hash': hash };
    return this.change('Service', service, { spec: { selector } });
  }

  /** Returns the problems of a ReplicaSet with so many pods. */
  size(hash: string, replicas: number): readonly string[] {
    const labels = { app: 'web', 'pod-template-hash': hash };
    const metadata = { ownerReferences: [ownedBy('Deployment', 'web')] };
    return this.change('ReplicaSet', hash, {
      metadata,
      spec: { replicas, template: { metadata: { labels } } },
    });
  }

  /** Returns the problems of a route with these weights. */
  route(weights: readonly number[], { added = 0, edit = 0 } = {}): readonly string[] {
    const { route } = aLedRoute('default', 'web');
    const [first, ...others] = route.spec.rules ?? [];
    const backendRefs = first?.backendRefs?.map((backend, at) => ({ ...backend, weight: weights[at] }));
    const more = Array.from({ length: added }, () => ({ name: 'rollkeeper.web.1' }));
    const spec = {
      ...route.spec,
      hostnames: [`${edit}.example.com`],
      rules: [{ ...first, backendRefs }, ...others, ...more],
    };
    return this.change('HTTPRoute', 'web', { spec });
  }

  /** Both versions serve, and both Services have endpoints. */
  serveBoth(): void {
    for (const hash of ['old', 'new']) this.pod(`web-${hash}-a`, hash, true);
    this.endpoints('web-stable', ['web-old-a']);
    this.endpoints('web-canary', ['web-new-a']);
  }

  seconds(count: number): void {
    this.revision += count;
  }

  change(kind: RecordedKind, name: string, { metadata, ...rest }: Changed, deleted = false) {
    this.revision += 1;
    const object = {
      ...{ apiVersion: 'v1', kind, metadata: { name, uid: name, ...metadata }, ...rest },
    } as KubernetesObject;
    const [resourceVersion, seenAtMs] = [String(this.revision), this.revision * 1000];
    const event: HistoryEvent = { kind, deleted, object, resourceVersion, seenAtMs };
    this.replay.apply(event);
    return this.checker.check(event).map(({ problem }) => problem.replace(/ \(revision.*/, ''));
  }
}

function ownedBy(kind: string, name: string) {
  return { apiVersion: 'apps/v1', kind, name, uid: name, controller: true };
}

describe('the check of routes that rollouts lead', () => {
  it('finds weights that are not 100 together', () => {
    expect(new Recorded().route([60, 20])).toContain('the weights are 60 and 20');
  });

  it('finds a share for a version that has no pod while the other has one', () => {
    const recorded = new Recorded();
    recorded.serveBoth();
    expect(recorded.route([80, 20])).toEqual([]);
    recorded.pod('web-new-a', 'new', false);
    recorded.seconds(60);
    expect(recorded.route([50, 50])).toEqual(['new gets a share of 50, and has no ready pod']);
    recorded.pod('web-new-a', 'new', true);
    expect(recorded.route([20, 80])).toEqual([]);
  });

  it('finds an added rule that leads to no pod, and a way back to none', () => {
    const recorded = new Recorded();
    recorded.serveBoth();
    recorded.pod('web-new-a', 'new', true, true);
    recorded.seconds(60);
    expect(recorded.route([100, 0], { added: 1 })).toContain('new gets a share of 1, and has no ready pod');
    recorded.pod('web-new-b', 'new', true);
    recorded.endpoints('web-canary', ['web-new-b']);
    expect(recorded.route([0, 100], { added: 1 })).toEqual([]);
    recorded.pod('web-old-a', 'old', false, true);
    recorded.seconds(60);
    expect(recorded.route([100, 0])).toContain('old gets a share of 100, and has no ready pod');
  });

  it('lets a cache lag, and counts no version where neither has a pod', () => {
    const recorded = new Recorded();
    expect(recorded.route([80, 20])).not.toContain('new gets a share of 20, and has no ready pod');
    recorded.serveBoth();
    recorded.pod('web-new-a', 'new', true, true);
    expect(recorded.route([50, 50])).toEqual([]);
  });

  it('finds requests for a Service before its endpoints have shown the version that it selects', () => {
    const recorded = new Recorded();
    for (const hash of ['old', 'new']) recorded.pod(`web-${hash}-a`, hash, true);
    recorded.endpoints('web-canary', ['web-old-a']);
    const problem = 'web-canary gets requests, and has had no ready endpoint of the version new';
    expect(recorded.route([80, 20])).toEqual([problem]);
    recorded.route([100, 0]);
    recorded.endpoints('web-canary', ['web-new-a']);
    expect(recorded.route([80, 20])).toEqual([]);
  });

  it('finds a version that goes before it has had no requests for the drain time', () => {
    const recorded = new Recorded();
    recorded.serveBoth();
    recorded.route([80, 20]);
    expect(recorded.size('new', 1)).toEqual(['new is made smaller, from 2 to 1, 0 ms after it had requests']);
    recorded.size('new', 2);
    recorded.route([100, 0]);
    expect(recorded.size('new', 1)).toEqual([
      'new is made smaller, from 2 to 1, 1000 ms after it had requests',
    ]);
    recorded.seconds(5);
    expect(recorded.size('new', 0)).toEqual([]);
  });

  it('finds an old version that shrinks, unless it may, and keeps what its share needs', () => {
    const recorded = new Recorded();
    recorded.serveBoth();
    expect(recorded.size('old', 1)).toContain(
      'old is made smaller, from 2 to 1, and the stable Service selects it',
    );
    const dynamic = new Recorded({ 'rollkeeper.dev/traffic-stable': 'dynamic' });
    dynamic.serveBoth();
    dynamic.route([50, 50]);
    expect(dynamic.size('old', 1)).toEqual([]);
    expect(dynamic.size('old', 0)).toEqual(['old is made smaller, from 1 to 0, and its share needs 1']);
  });

  it('finds changes of what others wrote in the route', () => {
    const recorded = new Recorded();
    expect(recorded.route([100, 0], { edit: 1 })).toEqual([]);
    const problem = 'what others wrote in the route was changed';
    expect(recorded.route([100, 0], { edit: 0 })).toEqual([problem]);
    expect(recorded.change('HTTPRoute', 'web', { spec: { rules: [] } })).toContain(problem);
  });
});
