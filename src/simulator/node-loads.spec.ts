import { describe, expect, it } from 'vitest';
import type { Pod } from '../machinery/kubernetes/index.js';
import { NodeLoads } from './node-loads.js';

function aPod(name: string, controller?: string, phase: 'Running' | 'Succeeded' | 'Failed' = 'Running'): Pod {
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'web',
    uid: controller ?? '',
    controller: true,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...(controller && { ownerReferences: [owner] }) },
    spec: { containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '100m' } } }] },
    status: { phase },
  };
}

describe('NodeLoads', () => {
  it('counts the pods of a node, and those of one controller', () => {
    const loads = new NodeLoads();
    loads.place('a', aPod('a', 'web'), 'node-0');
    loads.place('b', aPod('b', 'web'), 'node-0');
    loads.place('c', aPod('c', 'db'), 'node-0');
    loads.place('d', aPod('d'), 'node-0');
    expect(loads.of('node-0')).toMatchObject({ pods: 4, cpu: 0.4 });
    expect(loads.siblingsOf(aPod('e', 'web'), 'node-0')).toBe(2);
    expect(loads.siblingsOf(aPod('e', 'web'), 'node-1')).toBe(0);
    expect(loads.siblingsOf(aPod('e'), 'node-0')).toBe(0);
  });

  it('counts a pod once, wherever it is, and not after its end', () => {
    const loads = new NodeLoads();
    loads.place('a', aPod('a', 'web'), 'node-0');
    loads.place('a', aPod('a', 'web'), 'node-0');
    loads.place('a', aPod('a', 'web'), 'node-1');
    expect(loads.siblingsOf(aPod('e', 'web'), 'node-0')).toBe(0);
    expect(loads.siblingsOf(aPod('e', 'web'), 'node-1')).toBe(1);
    loads.place('a', aPod('a', 'web', 'Succeeded'), 'node-1');
    loads.remove('a');
    expect(loads.siblingsOf(aPod('e', 'web'), 'node-1')).toBe(0);
    expect(loads.of('node-1')).toEqual({ cpu: 0, memory: 0, pods: 0 });
  });
});
