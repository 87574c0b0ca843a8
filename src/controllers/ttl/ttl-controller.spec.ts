import { describe, expect, it } from 'vitest';
import { decideTtl } from './ttl-controller.js';

describe('how long kubelets keep Secrets and ConfigMaps', () => {
  it.each([
    { nodes: 3, before: undefined, ttl: '0' },
    { nodes: 100, before: '0', ttl: '0' },
    { nodes: 101, before: '0', ttl: '15' },
    { nodes: 95, before: '15', ttl: '15' },
    { nodes: 89, before: '15', ttl: '0' },
    { nodes: 600, before: undefined, ttl: '30' },
    { nodes: 1500, before: '30', ttl: '60' },
    { nodes: 5000, before: 'nonsense', ttl: '300' },
  ])('is $ttl s in a cluster of $nodes nodes, after $before', ({ before, nodes, ttl }) => {
    expect(decideTtl(nodes, before)).toBe(ttl);
  });
});
