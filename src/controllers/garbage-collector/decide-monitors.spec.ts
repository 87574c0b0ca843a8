import { describe, expect, it } from 'vitest';
import type { DiscoveredResource } from '../../client/api-client/index.js';
import type { ResourceType } from '../../machinery/kubernetes/index.js';
import { Deployment, Event, Pod } from '../../machinery/kubernetes/index.js';
import { served } from '../../testing/fake-cluster.js';
import { decideMonitorState, decideMonitors, decideShardState } from './decide-monitors.js';

const WIDGETS: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
};
const ignored = new Set(['events', 'events.events.k8s.io']);
const found = (resources: readonly DiscoveredResource[], ...failed: string[]) => ({
  resources,
  failedGroups: failed.map((groupVersion) => ({ groupVersion, error: new Error('away') })),
});

describe('the types that are followed', () => {
  it('is everything that can be listed, watched and deleted', () => {
    const resources = [...served(Pod, WIDGETS), { ...Deployment, verbs: ['get', 'list', 'watch'] }];
    expect(decideMonitors([], found(resources), ignored)).toEqual({ start: [Pod, WIDGETS], stop: [] });
  });

  it('is not what is ignored, in any group', () => {
    const other = { ...Event, group: 'events.k8s.io' };
    expect(decideMonitors([], found(served(Event, other, Pod)), ignored).start).toEqual([Pod]);
  });

  it('changes with what the server has', () => {
    const plan = decideMonitors([Pod, WIDGETS], found(served(Pod, Deployment)), ignored);
    expect(plan).toEqual({ start: [Deployment], stop: [WIDGETS] });
  });

  it('is in the preferred version, and begins again when that changes', () => {
    const v2 = { ...WIDGETS, version: 'v2' };
    expect(decideMonitors([WIDGETS], found(served(v2)), ignored)).toEqual({ start: [v2], stop: [WIDGETS] });
  });

  it('keeps what a group has that cannot be asked', () => {
    const plan = decideMonitors([Pod, WIDGETS], found(served(Pod), 'example.com/v1'), ignored);
    expect(plan).toEqual({ start: [], stop: [] });
  });

  it('does not believe a server that claims to have nothing', () => {
    expect(decideMonitors([Pod], found([]), ignored)).toEqual({ start: [], stop: [] });
  });
});

describe('how a type is followed', () => {
  it.each([
    { name: 'while its first list is under way', facts: {}, state: 'syncing' },
    { name: 'while no answer comes', facts: { trouble: { reason: 'reset' } }, state: 'syncing' },
    { name: 'when no answer came for 30 s', facts: { ageMs: 30_000 }, state: 'unreadable' },
    {
      name: 'when the server refuses',
      facts: { trouble: { reason: 'no', code: 403 } },
      state: 'unreadable',
    },
    { name: 'when it was listed', facts: { hasSynced: true, ageMs: 40_000 }, state: 'synced' },
    {
      name: 'when the server refuses what it once allowed',
      facts: { hasSynced: true, trouble: { reason: 'no', code: 403 } },
      state: 'unreadable',
    },
    {
      name: 'when it was listed and the connection is broken',
      facts: { hasSynced: true, trouble: { reason: 'reset' } },
      state: 'synced',
    },
  ])('$name: $state', ({ facts, state }) => {
    expect(decideMonitorState({ ageMs: 0, hasSynced: false, ...facts })).toBe(state);
  });
});

describe('how a shard of a type is followed', () => {
  const reset = { reason: 'reset' };
  it.each([
    { name: 'while its list takes long', facts: { ageMs: 90_000 }, state: 'syncing' },
    { name: 'while the server is busy', facts: { trouble: { reason: 'busy', code: 503 } }, state: 'syncing' },
    {
      name: 'when there was no answer for 30 s',
      facts: { ageMs: 30_000, trouble: reset },
      state: 'unreadable',
    },
    { name: 'when the server refuses', facts: { trouble: { reason: 'no', code: 403 } }, state: 'unreadable' },
    {
      name: 'when it was listed',
      facts: { hasSynced: true, ageMs: 40_000, trouble: reset },
      state: 'synced',
    },
  ])('$name: $state', ({ facts, state }) => {
    expect(decideShardState({ ageMs: 0, hasSynced: false, ...facts })).toBe(state);
  });
});
