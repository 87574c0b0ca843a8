import { describe, expect, it } from 'vitest';
import { aPod } from '../testing/pod-builder.js';
import { decideMissingSources } from './decide-sources.js';

describe('decideMissingSources', () => {
  it('looks at the keys of each object once, regardless of how often the pod reads it', () => {
    const looked: string[] = [];
    const pod = aPod({ name: 'reader' });
    const keys = Array.from({ length: 100 }, (_, index) => `k${index}`);
    for (const container of pod.spec.containers)
      container.env = keys.map((key) => ({
        name: key,
        valueFrom: { configMapKeyRef: { name: 'all', key } },
      }));
    pod.spec.imagePullSecrets = keys.map(() => ({ name: 'pull' }));
    pod.spec.volumes = keys.map((name) => ({
      name,
      projected: {
        sources: keys.map((key) => ({ configMap: { name: 'all', items: [{ key, path: key }] } })),
      },
    }));
    const missing = decideMissingSources(pod, {
      keysOf: (kind, _namespace, name) => {
        looked.push(`${kind}/${name}`);
        return new Set(keys);
      },
      claimState: () => 'bound',
    });
    expect(missing).toEqual({ mounts: [], configOf: new Map(), pullSecrets: [], cannotPull: false });
    expect(looked).toEqual(['configmap/all', 'secret/pull']);
  });
});
