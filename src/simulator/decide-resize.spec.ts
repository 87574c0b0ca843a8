import { describe, expect, it } from 'vitest';
import type { Pod, PodSpec } from '../machinery/kubernetes/index.js';
import { decideContainerEvents } from './container-events.js';
import type { NodeRoom } from './decide-resize.js';
import { START, startingPod, condition, decide, play } from './pod-lifecycle.fixture.js';

type Resources = NonNullable<PodSpec['containers'][number]['resources']>;
type ResizePolicy = NonNullable<PodSpec['containers'][number]['resizePolicy']>;

const SMALL: Resources = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '1Gi' } };
const LARGE: Resources = { requests: { cpu: '500m', memory: '64Mi' }, limits: { cpu: '2', memory: '1Gi' } };

/** Runs with `SMALL`, and is asked to have `LARGE`. */
function resized(to: Resources = LARGE, resizePolicy?: ResizePolicy): Pod {
  const container = {
    name: 'main',
    image: 'nginx:1.27',
    resources: SMALL,
    ...(resizePolicy && { resizePolicy }),
  };
  const { pod } = play(startingPod({ generation: 1 }, { containers: [container] }), 0);
  const spec = { ...pod.spec, containers: [{ ...container, resources: to }] };
  return { ...pod, metadata: { ...pod.metadata, generation: 2 }, spec };
}

const room = (cpu: string, taken: NodeRoom['taken'] = {}) => ({
  room: () => ({ allocatable: { cpu, memory: '8Gi' }, taken }),
});
const main = (pod: Pod) => pod.status?.containerStatuses?.[0];

describe('a pod that runs', () => {
  it('says what each container was allocated and has', () => {
    const { pod } = play(resized(SMALL), 0);
    expect(main(pod)).toMatchObject({ allocatedResources: SMALL.requests, resources: SMALL });
    const { pod: plain } = play(startingPod(), 0);
    expect(main(plain)?.resources).toEqual({});
    expect(main(plain)).not.toHaveProperty('allocatedResources');
  });

  it('says nothing of a container that has not started', () => {
    const spec = { containers: [{ name: 'main', image: 'broken:1', resources: SMALL }] };
    expect(main(play(startingPod({}, spec), 0).pod)).not.toHaveProperty('resources');
  });
});

describe('a resize', () => {
  it('is granted first and carried out then, without a restart', () => {
    const { written, pod } = play(resized(), 0, room('4'));
    expect(written).toHaveLength(2);
    const [granted] = written;
    expect(granted?.status.containerStatuses?.[0]).toMatchObject({
      allocatedResources: LARGE.requests,
      resources: SMALL,
    });
    expect(condition(granted?.status, 'PodResizeInProgress')).toMatchObject({
      status: 'True',
      observedGeneration: 2,
    });
    expect(main(pod)).toMatchObject({ resources: LARGE, restartCount: 0, ready: true });
    expect(pod.status?.observedGeneration).toBe(2);
    expect(condition(pod.status, 'PodResizeInProgress')).toBeUndefined();
  });

  it.each([
    ['restarts the container whose policy asks for it', 'cpu', 1],
    ['restarts none for a resource that stays the same', 'memory', 0],
  ])('%s', (_rule, resourceName, restartCount) => {
    const policy = [{ resourceName, restartPolicy: 'RestartContainer' }];
    const { pod } = play(resized(LARGE, policy), 0, room('4'));
    expect(main(pod)).toMatchObject({ resources: LARGE, restartCount, ready: true });
  });

  it('is infeasible if it is larger than the node, and changes nothing', () => {
    const { pod } = play(resized({ ...LARGE, requests: { cpu: '5', memory: '64Mi' } }), 0, room('4'));
    expect(condition(pod.status, 'PodResizePending')).toMatchObject({
      reason: 'Infeasible',
      message: "Node didn't have enough capacity: cpu, requested: 5000, capacity: 4000",
      observedGeneration: 2,
    });
    expect(main(pod)).toMatchObject({ allocatedResources: SMALL.requests, resources: SMALL });
  });

  it('without room beside the other pods is deferred until they leave it some', () => {
    const deferred = play(resized(), 0, room('4', { cpu: '3600m' })).pod;
    expect(condition(deferred.status, 'PodResizePending')).toMatchObject({
      reason: 'Deferred',
      message: "Node didn't have enough resource: cpu, requested: 500, used: 3600, capacity: 4000",
    });
    const { pod } = play(deferred, 0, room('4', { cpu: '3500m' }));
    expect(main(pod)?.resources).toEqual(LARGE);
    expect(condition(pod.status, 'PodResizePending')).toBeUndefined();
  });

  it('is retried by itself if it is deferred', () => {
    const deferred = play(resized(), 0, room('4', { cpu: '4' })).pod;
    expect(decide(deferred, 0, room('4', { cpu: '4' }))).toEqual({
      action: 'rest',
      wakeAtMs: START + 180_000,
    });
  });

  it('leaves no trace if it is taken back while it waits', () => {
    const deferred = play(resized(), 0, room('4', { cpu: '4' })).pod;
    const back = resized(SMALL).spec;
    const { pod } = play({ ...deferred, spec: back }, 0, room('4'));
    expect(condition(pod.status, 'PodResizePending')).toBeUndefined();
    expect(main(pod)).toMatchObject({ allocatedResources: SMALL.requests, resources: SMALL });
  });

  it('is granted again if it is changed after it was granted', () => {
    const [granted] = play(resized(), 0, room('4')).written;
    const more = { ...LARGE, requests: { cpu: '3', memory: '64Mi' } };
    const next = resized(more);
    const pod = { ...next, metadata: { ...next.metadata, generation: 3 }, status: granted?.status };
    const infeasible = play(pod, 0, room('2')).pod;
    expect(condition(infeasible.status, 'PodResizePending')?.reason).toBe('Infeasible');
    expect(main(infeasible)?.allocatedResources).toEqual(LARGE.requests);
    expect(main(play(pod, 0, room('4')).pod)?.resources).toEqual(more);
  });

  it('goes the same way for sidecars', () => {
    const sidecar = { name: 'side', image: 'proxy:1', restartPolicy: 'Always', resources: SMALL } as const;
    const { pod } = play(startingPod({ generation: 1 }, { initContainers: [sidecar] }), 0);
    const spec = { ...pod.spec, initContainers: [{ ...sidecar, resources: LARGE }] };
    const next = play({ ...pod, metadata: { ...pod.metadata, generation: 2 }, spec }, 0, room('4')).pod;
    expect(next.status?.initContainerStatuses?.[0]).toMatchObject({ resources: LARGE, restartCount: 0 });
  });

  it('is shown in the status of a pod if it is of the pod as a whole', () => {
    const { pod } = play(startingPod({ generation: 1 }, { resources: SMALL }), 0);
    expect(pod.status).toMatchObject({ allocatedResources: SMALL.requests, resources: SMALL });
    const wanted = {
      ...pod,
      metadata: { ...pod.metadata, generation: 2 },
      spec: { ...pod.spec, resources: LARGE },
    };
    expect(play(wanted, 0, room('4')).pod.status).toMatchObject({
      allocatedResources: LARGE.requests,
      resources: LARGE,
    });
    expect(play(wanted, 0, room('100m')).pod.status).toMatchObject({ resources: SMALL });
  });

  it('is reported in events', () => {
    const told = (pod: Pod, cpu: string): string[] => {
      let before = pod;
      return play(pod, 0, room(cpu)).written.flatMap(({ status }) => {
        const notes = decideContainerEvents(before, status);
        before = { ...before, status };
        return notes.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
      });
    };
    const about = `{"containers":[{"name":"main","resources":${JSON.stringify(LARGE)}}],"generation":2`;
    expect(told(resized(), '4')).toEqual([
      `Normal ResizeStarted Pod resize started: ${about}}`,
      `Normal ResizeCompleted Pod resize completed: ${about}}`,
    ]);
    expect(told(resized(), '400m')).toEqual([
      `Warning ResizeInfeasible Pod resize Infeasible: ${about},"error":"Node didn't have enough capacity: cpu, requested: 500, capacity: 400"}`,
    ]);
  });
});
