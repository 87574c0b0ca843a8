import type { RandomSource } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { ClusterView, ViewedResource } from '../framework/cluster-view.js';
import { compileProfile } from '../framework/compile-profile.js';
import type { ReadableNode, ReadablePod } from '../framework/node-info.js';
import type { Profile } from '../framework/profile.js';
import { DEFAULT_PLUGINS } from '../run/default-plugins.js';

/** Draws small clusters and pods that are likely to be in each other's way. */
export class WorldDraws {
  private drawn = 0;

  constructor(private readonly random: RandomSource) {}

  oneOf<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.random.next() * choices.length)]!;
  }

  maybe<T extends object>(chance: number, part: () => T): T | undefined {
    return this.random.next() < chance ? part() : undefined;
  }

  node(name: string): ReadableNode {
    const labels = {
      'kubernetes.io/hostname': name,
      ...this.maybe(0.8, () => ({ 'topology.kubernetes.io/zone': this.oneOf(['a', 'b']) })),
      disk: this.oneOf(['ssd', 'hdd']),
    };
    return {
      ...{ apiVersion: 'v1', kind: 'Node' },
      metadata: { name, labels },
      spec: {
        ...this.maybe(0.1, () => ({ unschedulable: true })),
        ...this.maybe(0.2, () => ({
          taints: [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' as const }],
        })),
      },
      status: {
        allocatable: { cpu: this.oneOf(['1', '2']), memory: '4Gi', pods: this.oneOf(['3', '6']) },
        images: this.maybe(0.5, () => [{ names: ['web:1'], sizeBytes: 300_000_000 }]),
      },
    };
  }

  pod(node?: string): ReadablePod {
    const name = `pod-${this.drawn++}`;
    const priority = this.oneOf([0, 0, 10, 100]);
    return {
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: {
        ...{ name, namespace: 'default', uid: `uid-${name}` },
        labels: { app: this.oneOf(['web', 'db']) },
      },
      spec: {
        containers: [
          {
            ...{ name: 'c', image: 'web:1' },
            resources: { requests: { cpu: this.oneOf(['100m', '500m', '900m']), memory: '256Mi' } },
            ...this.maybe(0.2, () => ({
              ports: [{ containerPort: 80, hostPort: this.oneOf([8080, 9090]) }],
            })),
          },
        ],
        priority,
        ...(node !== undefined && { nodeName: node }),
        ...this.maybe(0.3, () => ({ tolerations: [{ key: 'dedicated', operator: 'Exists' as const }] })),
        ...this.maybe(0.2, () => ({ nodeSelector: { disk: 'ssd' } })),
        ...this.maybe(0.4, () => ({ affinity: this.affinity() })),
        ...this.maybe(0.2, () => ({ topologySpreadConstraints: [this.spread()] })),
        ...this.maybe(0.2, () => ({
          volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
        })),
      },
      status: { phase: 'Running', startTime: new Date(1_700_000_000_000 + this.drawn * 1000).toISOString() },
    };
  }

  budget(): KubernetesObject {
    return {
      ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
      metadata: { name: 'budget', namespace: 'default' },
      ...{ spec: { selector: { matchLabels: { app: 'web' } } }, status: { disruptionsAllowed: 1 } },
    };
  }

  private affinity(): NonNullable<ReadablePod['spec']['affinity']> {
    const term = {
      topologyKey: this.oneOf(['kubernetes.io/hostname', 'topology.kubernetes.io/zone']),
      labelSelector: { matchLabels: { app: this.oneOf(['web', 'db']) } },
    };
    const required = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
    const preferred = {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, podAffinityTerm: term }],
    };
    return this.oneOf([
      { podAntiAffinity: required },
      { podAffinity: required },
      { podAntiAffinity: preferred },
      { podAffinity: preferred },
    ]);
  }

  private spread() {
    return {
      ...{ maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const },
      topologyKey: this.oneOf(['kubernetes.io/hostname', 'topology.kubernetes.io/zone']),
      labelSelector: { matchLabels: { app: this.oneOf(['web', 'db']) } },
    };
  }
}

/** A view of these objects and of nothing else. */
export function viewOf(
  objects: Readonly<Partial<Record<ViewedResource, readonly KubernetesObject[]>>>,
): ClusterView {
  return {
    get: <T extends KubernetesObject>(resource: ViewedResource, ref: { namespace?: string; name: string }) =>
      (objects[resource] ?? []).find(({ metadata }) => keyOf(metadata) === keyOf(ref)) as
        DeepReadonly<T> | undefined,
    list: <T extends KubernetesObject>(resource: ViewedResource, namespace?: string) =>
      (objects[resource] ?? []).filter(
        ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
      ) as readonly unknown[] as readonly DeepReadonly<T>[],
  };
}

/** A claim that every pod with a volume uses. */
export const CLAIMS: Partial<Record<ViewedResource, readonly KubernetesObject[]>> = {
  persistentvolumeclaims: [
    {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
      metadata: {
        ...{ name: 'data', namespace: 'default', uid: 'data' },
        annotations: { 'pv.kubernetes.io/bind-completed': 'yes' },
      },
      ...{ spec: { volumeName: 'volume', accessModes: ['ReadWriteOncePod'] }, status: { phase: 'Bound' } },
    },
  ],
  persistentvolumes: [
    {
      ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'volume' } },
      ...{ spec: { capacity: { storage: '1Gi' } }, status: { phase: 'Bound' } },
    },
  ],
};

export function defaultProfile(view: ClusterView): Profile {
  return compileProfile({
    plugins: DEFAULT_PLUGINS.map(({ create, weight }) => ({
      plugin: create(undefined, { view, log: silentLogger }),
      weight,
    })),
  });
}
