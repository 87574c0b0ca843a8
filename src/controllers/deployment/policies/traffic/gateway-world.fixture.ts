import { expect } from 'vitest';
import { EndpointSlice, isPodReady, isTerminating } from '../../../../machinery/kubernetes/index.js';
import type { Pod } from '../../../../machinery/kubernetes/index.js';
import { Service } from '../../../../runtime/index.js';
import type { RolloutWorld } from '../../../../testing/rollout-world.js';
import { SERVICE_NAME_LABEL } from '../../../shared/index.js';
import type { Route } from './route-part.js';
import { HTTPRoute } from './routes.js';

type Rules = NonNullable<Route['spec']['rules']>;

/** A rule with both Services. */
export function bothServices(stable = 100, canary = 0): Rules[number] {
  return {
    backendRefs: [
      { name: 'web-stable', port: 80, weight: stable },
      { name: 'web-canary', port: 80, weight: canary },
    ],
  };
}

/** A gateway that takes over the routes of a world, and the endpoints of its Services. Each call is one move of theirs. */
export class GatewayWorld {
  constructor(private readonly world: RolloutWorld) {}

  putRoute(rules: Rules, name = 'web', namespace = 'default'): void {
    const metadata = { namespace, name, uid: `uid-of-${name}`, generation: 1 };
    this.world.api.seed<Route>(HTTPRoute, {
      ...{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata },
      spec: { parentRefs: [{ name: 'gateway' }], rules },
    });
  }

  get routes(): Route[] {
    return this.world.api.all<Route>(HTTPRoute);
  }

  /** The weights of a rule, in their order. */
  weights(rule = 0, route = 'web'): readonly (number | undefined)[] {
    const found = this.routes.find(({ metadata }) => metadata.name === route);
    return (found?.spec.rules?.[rule]?.backendRefs ?? []).map(({ weight }) => weight);
  }

  service(name: string): Service | undefined {
    return this.world.api.all<Service>(Service).find(({ metadata }) => metadata.name === name);
  }

  podsBehind(name: string): readonly Pod[] {
    const selector = Object.entries(this.service(name)?.spec.selector ?? { none: 'none' });
    return this.world.allPods.filter(
      ({ metadata }) =>
        selector.every(([label, value]) => metadata.labels?.[label] === value) &&
        !isTerminating({ metadata }),
    );
  }

  /** Whether a Service has a pod that is ready. */
  hasReady(name: string): boolean {
    return this.podsBehind(name).some(isPodReady);
  }

  /** The gateway takes over what the routes say. */
  serveRoutes(): void {
    for (const route of this.routes) {
      const { generation = 0 } = route.metadata;
      const [entry] = route.status?.parents ?? [];
      if (entry?.conditions?.[0]?.observedGeneration === generation) continue;
      const conditions = ['Accepted', 'ResolvedRefs'].map((type) => ({
        ...{ type, status: 'True', reason: type, observedGeneration: generation },
      }));
      const parents = [{ parentRef: { name: 'gateway' }, conditions }];
      this.world.api.seed<Route>(HTTPRoute, { ...route, status: { parents } });
    }
  }

  fillEndpoints(): void {
    for (const { metadata } of this.world.api.all<Service>(Service)) {
      const pods = this.podsBehind(metadata.name);
      const endpoints = pods.map((pod) => ({
        addresses: ['10.0.0.1'],
        conditions: { ready: isPodReady(pod) },
        targetRef: { kind: 'Pod', name: pod.metadata.name },
      }));
      const slices = this.world.api.all<EndpointSlice>(EndpointSlice);
      const before = slices.find((slice) => slice.metadata.name === metadata.name);
      if (JSON.stringify(before?.endpoints) === JSON.stringify(endpoints)) continue;
      this.world.api.seed<EndpointSlice>(EndpointSlice, {
        ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4', endpoints },
        metadata: {
          ...{ name: metadata.name, namespace: 'default', labels: { [SERVICE_NAME_LABEL]: metadata.name } },
        },
      });
    }
  }

  /**
   * Rule 16 of the worlds of policies, for one write to the route `web`: it gives no more requests to a version without a ready pod
   * while the other has one.
   * @param patch the operations of a JSON patch
   */
  judge(patch: unknown): void {
    const changes = patch as readonly { readonly path: string; readonly value?: unknown }[];
    const weightOf = (at: number): unknown =>
      changes.find(({ path }) => path === `/spec/rules/0/backendRefs/${at}/weight`)?.value;
    const [wasStable = 0, wasCanary = 0] = this.weights();
    const [stable, canary] = [Number(weightOf(0) ?? wasStable), Number(weightOf(1) ?? wasCanary)];
    expect(stable + canary, 'rule 16, the sum').toBe(100);
    const [isStableReady, isCanaryReady] = [this.hasReady('web-stable'), this.hasReady('web-canary')];
    const isAdded = changes.some(({ path, value }) => path === '/spec/rules/-' && value !== undefined);
    if (isStableReady && (canary > wasCanary || isAdded))
      expect(isCanaryReady, 'rule 16, requests to a new version without pods').toBe(true);
    if (isCanaryReady && stable > wasStable)
      expect(isStableReady, 'rule 16, requests to an old version without pods').toBe(true);
  }

  /** Rule 16, in the end. */
  expectAtRest(): void {
    const [route] = this.routes;
    if (!route) return;
    expect(route.spec.rules, 'rule 16').toEqual([bothServices()]);
    expect(route.metadata.annotations ?? {}, 'rule 16').toEqual({});
    expect(this.podsBehind('web-stable'), 'rule 16').toHaveLength(this.world.availablePods.length);
  }
}
