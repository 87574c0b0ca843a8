import { describe, expect, it } from 'vitest';
import type { Node, Pod } from '../machinery/kubernetes/index.js';
import { NodeRooms } from './node-rooms.js';
import { startingPod } from './pod-lifecycle.fixture.js';

const NODE: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-0' },
  status: { allocatable: { cpu: '4', memory: '8Gi' } },
};

/** A pod that asks for `wanted`, was allocated `allocated`, and has `has`. */
function aPodWith(
  name: string,
  { wanted, allocated, has }: { wanted: string; allocated?: string; has?: string },
  fields: Partial<Pod> = {},
): Pod {
  const pod = startingPod({ name, uid: name, generation: 2 });
  pod.spec.containers[0]!.resources = { requests: { cpu: wanted } };
  const status = {
    ...{ name: 'main', image: 'i', imageID: '', ready: true, restartCount: 0 },
    ...(allocated && { allocatedResources: { cpu: allocated } }),
    ...(has && { resources: { requests: { cpu: has } } }),
  };
  return { ...pod, status: { phase: 'Running', containerStatuses: [status] }, ...fields };
}

function roomsOf(pods: readonly Pod[]): NodeRooms {
  return new NodeRooms(
    { get: (name: string) => (name === 'node-0' ? NODE : undefined) },
    { list: () => [...pods] },
    { get: () => undefined },
  );
}

describe('the room of a node', () => {
  const asking = aPodWith('asking', { wanted: '1' });

  it('is what was allocated to its other pods, not what they ask for', () => {
    const others = [
      aPodWith('resized', { wanted: '3', allocated: '500m' }),
      aPodWith('new', { wanted: '250m' }),
      aPodWith('over', { wanted: '1' }, { status: { phase: 'Succeeded' } }),
    ];
    expect(roomsOf([asking, ...others]).of(asking)).toMatchObject({
      allocatable: { cpu: '4' },
      taken: { cpu: '750m' },
    });
  });

  it('lacks what was granted a moment ago', () => {
    const other = aPodWith('other', { wanted: '3', allocated: '1' });
    const rooms = roomsOf([asking, other]);
    rooms.grant(other, { cpu: '3' });
    expect(rooms.of(asking)?.taken).toEqual({ cpu: '3' });
    rooms.settle('other');
    expect(rooms.of(asking)?.taken).toEqual({ cpu: '1' });
  });

  it('is not known if the node is not', () => {
    const elsewhere = startingPod();
    elsewhere.spec.nodeName = 'node-7';
    expect(roomsOf([]).of(elsewhere)).toBeUndefined();
  });
});
