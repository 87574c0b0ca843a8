import { describe, expect, it } from 'vitest';
import type { Pod, PodStatus, UnstructuredObject } from '../../../../machinery/kubernetes/index.js';
import { POD_DELETION_COST } from '../../../../machinery/kubernetes/index.js';
import { POD_KIND } from './pod.kind.js';

function storedPod(change: (pod: Pod) => void = () => {}): UnstructuredObject {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { nodeName: 'n1', containers: [{ name: 'a', image: 'nginx' }] },
    status: { phase: 'Running' },
  };
  change(pod);
  const object = pod as unknown as UnstructuredObject;
  POD_KIND.applyDefaults(object);
  return object;
}

const base = { image: '', imageID: '', name: 'a', restartCount: 0 };
const running = { ...base, ready: true, state: { running: {} } };
const waiting = (reason: string) => ({ ...base, ready: false, state: { waiting: { reason } } });
const ended = (reason?: string, exitCode = 0) => ({
  ...base,
  ready: false,
  state: { terminated: { exitCode, ...(reason && { reason }) } },
});
const NOW = Date.parse('2026-01-01T01:00:00Z');

describe('the generation of a pod', () => {
  const made = storedPod();
  POD_KIND.prepareForCreate(made);
  const after = (subresource: '' | 'status', change: (pod: Pod) => void): unknown => {
    const next = structuredClone(made);
    change(next as unknown as Pod);
    POD_KIND.prepareForUpdate(next, made, subresource);
    return next.metadata.generation;
  };

  it('begins with 1, whatever was sent, and grows with the spec alone', () => {
    expect(made.metadata.generation).toBe(1);
    expect(after('', ({ metadata }) => (metadata.labels = { a: 'b' }))).toBe(1);
    expect(after('', ({ spec }) => (spec.activeDeadlineSeconds = 5))).toBe(2);
    expect(after('', ({ metadata }) => (metadata.generation = 9))).toBe(1);
    expect(after('status', ({ status }) => (status!.phase = 'Running'))).toBe(1);
  });

  it('is not there for a pod of an earlier release until its spec changes', () => {
    const old = storedPod();
    const next = structuredClone(old);
    POD_KIND.prepareForUpdate(next, old, '');
    expect(next.metadata).not.toHaveProperty('generation');
  });
});

describe('the deletion cost of a pod', () => {
  const costing = (cost: string): UnstructuredObject => {
    const pod = storedPod(({ metadata }) => (metadata.annotations = { [POD_DELETION_COST]: cost }));
    pod.metadata.resourceVersion = '1';
    return pod;
  };
  const refusal = {
    field: `metadata.annotations[${POD_DELETION_COST}]`,
    message: 'Invalid value: "": must be a 32bit integer',
  };

  it('must be a 32 bit integer', () => {
    expect(POD_KIND.validateCreate(costing('-7'))).toEqual([]);
    expect(POD_KIND.validateCreate(costing('+7'))).toEqual([expect.objectContaining(refusal)]);
    expect(POD_KIND.validateUpdate(costing('1e3'), costing('5'), '')).toEqual([
      expect.objectContaining(refusal),
    ]);
  });

  it('may stay what it was, so that the pod can still be changed', () => {
    expect(POD_KIND.validateUpdate(costing('1e3'), costing('1e3'), '')).toEqual([]);
  });
});

describe('the row of a pod', () => {
  const cases: { name: string; status: PodStatus; deleted?: boolean; cells: unknown[] }[] = [
    { name: 'not yet assigned', status: { phase: 'Pending' }, cells: ['0/1', 'Pending'] },
    {
      name: 'being created',
      status: { phase: 'Pending', containerStatuses: [waiting('ContainerCreating')] },
      cells: ['0/1', 'ContainerCreating'],
    },
    {
      name: 'without its image',
      status: { phase: 'Pending', containerStatuses: [waiting('ImagePullBackOff')] },
      cells: ['0/1', 'ImagePullBackOff'],
    },
    {
      name: 'running',
      status: { phase: 'Running', containerStatuses: [running] },
      cells: ['1/1', 'Running'],
    },
    {
      name: 'crashing',
      status: { phase: 'Running', containerStatuses: [{ ...waiting('CrashLoopBackOff'), restartCount: 3 }] },
      cells: ['0/1', 'CrashLoopBackOff', '3'],
    },
    {
      name: 'crashed a while ago',
      status: {
        phase: 'Running',
        containerStatuses: [
          {
            ...running,
            restartCount: 2,
            lastState: { terminated: { exitCode: 1, finishedAt: '2026-01-01T00:55:00Z' } },
          },
        ],
      },
      cells: ['1/1', 'Running', '2 (5m ago)'],
    },
    {
      name: 'at its end',
      status: { phase: 'Succeeded', containerStatuses: [ended('Completed')] },
      cells: ['0/1', 'Completed'],
    },
    {
      name: 'ended without a reason',
      status: { phase: 'Failed', containerStatuses: [ended(undefined, 7)] },
      cells: ['0/1', 'ExitCode:7'],
    },
    {
      name: 'deleted',
      status: { phase: 'Running', containerStatuses: [running] },
      deleted: true,
      cells: ['1/1', 'Terminating'],
    },
    {
      name: 'deleted on a lost node',
      status: { phase: 'Running', reason: 'NodeLost' },
      deleted: true,
      cells: ['0/1', 'Unknown'],
    },
    { name: 'evicted', status: { phase: 'Failed', reason: 'Evicted' }, cells: ['0/1', 'Evicted'] },
    {
      name: 'held back',
      status: {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
      },
      cells: ['0/1', 'SchedulingGated'],
    },
  ];

  it.each(cases)('tells of a pod that is $name', ({ status, deleted, cells }) => {
    const pod = storedPod((p) => {
      p.status = status;
      if (deleted) p.metadata.deletionTimestamp = '2026-01-01T00:30:00Z';
    });
    expect(POD_KIND.toRow(pod, NOW).slice(1, 1 + cells.length)).toEqual(cells);
  });

  it('shows how far the init containers are', () => {
    const pod = storedPod((p) => {
      p.spec.initContainers = [
        { name: 'i1', image: 'x' },
        { name: 'i2', image: 'x' },
      ];
      p.status = {
        phase: 'Pending',
        initContainerStatuses: [ended('Completed'), waiting('PodInitializing')],
      };
    });
    expect(POD_KIND.toRow(pod, NOW).slice(0, 5)).toEqual(['p', '0/1', 'Init:1/2', '0', '60m']);
  });

  it('has the columns of kubectl get pods -o wide, one cell each', () => {
    expect(POD_KIND.columns.map(({ name }) => name)).toEqual([
      ...['Name', 'Ready', 'Status', 'Restarts', 'Age'],
      ...['IP', 'Node', 'Nominated Node', 'Readiness Gates'],
    ]);
    expect(POD_KIND.toRow(storedPod(), NOW).slice(5)).toEqual(['<none>', 'n1', '<none>', '<none>']);
  });
});

describe('a pod', () => {
  it('starts pending, of the class that its resources make', () => {
    const pod = storedPod((p) => {
      p.spec.containers[0]!.resources = { limits: { cpu: '1', memory: '1Gi' } };
    });
    POD_KIND.prepareForCreate(pod);
    expect(pod).toMatchObject({
      status: { phase: 'Pending', qosClass: 'Guaranteed' },
      spec: {
        enableServiceLinks: true,
        containers: [{ resources: { requests: { cpu: '1', memory: '1Gi' } } }],
      },
    });
  });

  it.each([
    ['by itself', {}, undefined, 30],
    ['as asked', {}, 5, 5],
    ['at once when forced', {}, 0, 0],
    ['at once when no node has it', { nodeName: undefined }, undefined, 0],
    ['as its spec says', { terminationGracePeriodSeconds: 60 }, undefined, 60],
  ])('ends in time: %s', (_name, spec, requested, seconds) => {
    const pod = storedPod((p) => Object.assign(p.spec, spec));
    expect(POD_KIND.gracefulDeletion(pod, requested).gracePeriodSeconds).toBe(seconds);
  });

  it('is removed at once if it has finished', () => {
    const pod = storedPod((p) => (p.status = { phase: 'Succeeded' }));
    expect(POD_KIND.gracefulDeletion(pod, undefined).gracePeriodSeconds).toBe(0);
  });

  const toleration = { key: 'a', operator: 'Exists' as const };
  const changes: { name: string; change: (pod: Pod) => void; fields: string[] }[] = [
    { name: 'its image', change: (p) => (p.spec.containers[0]!.image = 'nginx:2'), fields: [] },
    { name: 'a toleration more', change: (p) => (p.spec.tolerations = [toleration]), fields: [] },
    { name: 'a deadline', change: (p) => (p.spec.activeDeadlineSeconds = 5), fields: [] },
    { name: 'its node', change: (p) => (p.spec.nodeName = 'n2'), fields: ['spec'] },
    {
      name: 'a container more',
      change: (p) => p.spec.containers.push({ name: 'b', image: 'x' }),
      fields: ['spec.containers'],
    },
  ];
  it.each(changes)('may or may not change: $name', ({ change, fields }) => {
    const old = storedPod();
    const pod = storedPod((p) => {
      change(p);
      p.spec.containers[0]!.imagePullPolicy = 'Always';
    });
    expect(POD_KIND.validateUpdate(pod, old, '').map(({ field }) => field)).toEqual(fields);
  });

  it('keeps its tolerations', () => {
    const old = storedPod((p) => (p.spec.tolerations = [toleration]));
    expect(POD_KIND.validateUpdate(storedPod(), old, '').map(({ field }) => field)).toEqual([
      'spec.tolerations',
      'spec',
    ]);
  });

  it('can be selected by node and phase', () => {
    expect(POD_KIND.selectableFields(storedPod())).toMatchObject({
      'metadata.name': 'p',
      'metadata.namespace': 'default',
      'spec.nodeName': 'n1',
      'spec.restartPolicy': 'Always',
      'status.phase': 'Running',
    });
  });
});
