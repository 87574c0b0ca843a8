import { describe, expect, it } from 'vitest';
import type { ShareView, SharedPod } from './decide-share.js';
import { decideShare } from './decide-share.js';

const aPod = (node: number, fields: Partial<SharedPod> = {}): SharedPod => ({
  name: `pod-${node}`,
  node: `node-${node}`,
  revision: 'old',
  isAvailable: true,
  isTerminating: false,
  ...fields,
});
const aView = (fields: Partial<ShareView> = {}): ShareView => ({
  nodes: 4,
  update: 'new',
  runs: 'new',
  most: 4,
  maxUnavailable: 1,
  pods: [1, 2, 3, 4].map((node) => aPod(node)),
  ...fields,
});

describe('a rollout by shares of the nodes', () => {
  it('takes as many pods as may be missing at once, by the names of their nodes', () => {
    expect(decideShare(aView())).toEqual(['pod-1']);
    expect(decideShare(aView({ maxUnavailable: 3 }))).toEqual(['pod-1', 'pod-2', 'pod-3']);
  });

  it('takes no more than its share, of which a node whose pod is being recreated is a part', () => {
    expect(decideShare(aView({ maxUnavailable: 3, most: 2 }))).toEqual(['pod-1', 'pod-2']);
    const pods = [aPod(1, { isTerminating: true }), aPod(2), aPod(3), aPod(4)];
    expect(decideShare(aView({ maxUnavailable: 3, most: 1, pods }))).toEqual([]);
  });

  it('waits while a pod is missing, and takes those that are not available before others', () => {
    const pods = [aPod(1, { revision: 'new', isAvailable: false }), aPod(2), aPod(3), aPod(4)];
    expect(decideShare(aView({ pods }))).toEqual([]);
    const broken = [aPod(1), aPod(2), aPod(3, { isAvailable: false }), aPod(4)];
    expect(decideShare(aView({ pods: broken }))).toEqual(['pod-3']);
  });

  it('counts what is missing by nodes: a pod that stays on a node that should not get one makes up for none', () => {
    const stays = aPod(5);
    const broken = aPod(1, { revision: 'new', isAvailable: false });
    expect(decideShare(aView({ pods: [broken, aPod(2), aPod(3), aPod(4), stays] }))).toEqual([]);
    const first = aPod(1, { revision: 'new' });
    expect(decideShare(aView({ most: 1, pods: [first, aPod(2), aPod(3), aPod(4), stays] }))).toEqual([]);
  });

  it('takes pods that are bound to no node as well, one of a share of one', () => {
    const pods = [1, 2, 3, 4].map((node) => aPod(node, { node: '', isAvailable: false }));
    expect(decideShare(aView({ most: 1, pods }))).toEqual(['pod-1']);
  });

  it('takes none while another revision is to run', () => {
    expect(decideShare(aView({ runs: 'old' }))).toEqual([]);
  });
});
