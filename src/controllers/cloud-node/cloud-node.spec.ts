import { describe, expect, it } from 'vitest';
import type { Node } from '../../runtime/index.js';
import { decideNetwork, networksOf } from '../node-ipam/node-ipam.js';
import { decideCloudStep, decideRoute } from './cloud-node.js';

const aNode = (behaviour: string | undefined, ready: string, more: Partial<Node['spec']> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'node-0',
    annotations: behaviour === undefined ? {} : { 'node.rollkeeper.dev/behaviour': behaviour },
  },
  spec: { providerID: 'rollkeeper://node-0', ...more },
  status: { conditions: [{ type: 'Ready', status: ready }] },
});
const SHUTDOWN = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' as const };

describe('a machine of the simulated cloud', () => {
  it('loses its Node if it is gone, once that is not ready', () => {
    expect(decideCloudStep(aNode('gone', 'True'))).toEqual({ action: 'nothing' });
    expect(decideCloudStep(aNode('gone', 'Unknown'))).toEqual({ action: 'delete' });
    expect(decideCloudStep(aNode('gone', 'Unknown', { providerID: 'other://node-0' })).action).toBe(
      'nothing',
    );
    expect(decideCloudStep(aNode(undefined, 'Unknown')).action).toBe('nothing');
  });

  it('is tainted after it has shut down until it is ready again', () => {
    expect(decideCloudStep(aNode('not-ready, shutdown', 'False'))).toEqual({
      action: 'taint',
      taints: [SHUTDOWN],
    });
    expect(decideCloudStep(aNode('shutdown', 'False', { taints: [SHUTDOWN] })).action).toBe('nothing');
    const other = { key: 'other', effect: 'NoExecute' as const };
    expect(decideCloudStep(aNode('', 'True', { taints: [SHUTDOWN, other] }))).toEqual({
      action: 'taint',
      taints: [other],
    });
  });

  it('has a route unless it is told otherwise, and says so only once one was missing', () => {
    expect(decideRoute(aNode(undefined, 'True'))).toBeUndefined();
    const ill = aNode('network-unavailable', 'True');
    expect(decideRoute(ill)).toMatchObject({ status: 'True', reason: 'NoRouteCreated' });
    const without = { type: 'NetworkUnavailable', status: 'True' } as const;
    const conditions = [...(ill.status?.conditions ?? []), without];
    expect(decideRoute({ ...ill, status: { conditions } })).toBeUndefined();
    expect(decideRoute({ ...aNode(undefined, 'True'), status: { conditions } })).toMatchObject({
      status: 'False',
      reason: 'RouteCreated',
    });
  });
});

describe('the network of a node', () => {
  it('is the last that no node has, until there is none', () => {
    expect(decideNetwork(new Set())).toBe('10.255.192.0/18');
    expect(decideNetwork(new Set(['10.255.192.0/18']))).toBe('10.255.128.0/18');
    const all = new Set<string>();
    for (let next = decideNetwork(all); next; next = decideNetwork(all)) all.add(next);
    expect(all.size).toBe(1024);
    expect(all).toContain('10.0.0.0/18');
  });

  it('is read off either field', () => {
    expect(networksOf(aNode(undefined, 'True', { podCIDR: '10.0.0.0/18' }))).toEqual(['10.0.0.0/18']);
    expect(networksOf(aNode(undefined, 'True'))).toEqual([]);
  });
});
