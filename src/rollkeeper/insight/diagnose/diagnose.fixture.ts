import { FakeClock, toRfc3339 } from '@rollkeeper/machinery/clock';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { ConfigMap, Event } from '@rollkeeper/machinery/kubernetes';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { diagnose } from './diagnose.js';
import type { Diagnosis } from './diagnosis.js';
import { kindNamed } from './kind-diagnoses.js';

export const clock = new FakeClock();
export const NOW = clock.now();
export const ago = (seconds: number): string => toRfc3339(NOW - seconds * 1000);

export type Sketch = Record<string, unknown> & { metadata?: Record<string, unknown> };

/** A cluster from short words: `['pod', 'web-0', {…}]`; names without a namespace are in `shop` where the kind has one. */
export function clusterOf(...objects: readonly (readonly [kind: string, name: string, fields?: Sketch])[]) {
  const cluster = new FakeCluster(clock);
  for (const [word, name, { metadata, ...fields } = {}] of objects) {
    const type = typeOf(word);
    cluster.seed(type, {
      apiVersion: type.group === '' ? type.version : `${type.group}/${type.version}`,
      kind: type.kind,
      metadata: { name, uid: `uid-${name}`, ...(type.namespaced && { namespace: 'shop' }), ...metadata },
      ...fields,
    });
  }
  return cluster;
}

export function typeOf(word: string): ResourceType {
  if (word === 'event') return Event;
  if (word === 'configmap') return ConfigMap;
  if (word === 'storageclass')
    return {
      ...{ group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses', kind: 'StorageClass' },
      namespaced: false,
    };
  if (word === 'endpointslice')
    return {
      ...{ group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices', kind: 'EndpointSlice' },
      namespaced: true,
    };
  if (word === 'resourcequota')
    return { group: '', version: 'v1', resource: 'resourcequotas', kind: 'ResourceQuota', namespaced: true };
  const kind = kindNamed(word);
  if (!kind) throw new Error(`no kind ${word}`);
  return kind.type;
}

export async function explained(cluster: FakeCluster, word: string, name: string): Promise<Diagnosis> {
  const kind = kindNamed(word);
  if (!kind) throw new Error(`no kind ${word}`);
  return diagnose(cluster, kind, { namespace: 'shop', name }, { nowMs: NOW });
}

export const causesOf = ({ waitsFor }: Diagnosis): string[] =>
  waitsFor.map(({ cause, severity }) => `${severity} ${cause}`);

export function ownedBy(kind: string, name: string): Sketch['metadata'] {
  return {
    ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true }],
  };
}

export const ready = (isReady: boolean) => ({
  phase: 'Running',
  conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: ago(60) }],
});

export const waiting = (reason: string, message: string) => ({
  phase: 'Pending',
  conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: ago(60) }],
  containerStatuses: [
    { name: 'c', image: 'web:2', restartCount: 0, ready: false, state: { waiting: { reason, message } } },
  ],
});

export const spec = { containers: [{ name: 'c', image: 'web:2' }] };
