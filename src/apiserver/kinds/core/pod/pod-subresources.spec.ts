import { describe, expect, it } from 'vitest';
import type { Pod, UnstructuredObject } from '../../../../machinery/kubernetes/index.js';
import { POD_KIND } from './pod.kind.js';

const SMALL = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '1Gi' } };

function storedPod(change: (pod: Pod) => void = () => {}): UnstructuredObject {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      labels: { a: 'b' },
    },
    spec: {
      initContainers: [
        { name: 'init', image: 'i', resources: SMALL },
        { name: 'side', image: 'i', restartPolicy: 'Always', resources: SMALL },
      ],
      containers: [
        { name: 'a', image: 'i', resources: SMALL },
        {
          name: 'b',
          image: 'i',
          resources: { ...SMALL, requests: { ...SMALL.requests, 'ephemeral-storage': '1Gi' } },
        },
      ],
    },
    status: { phase: 'Running', qosClass: 'Burstable' },
  };
  change(pod);
  const object = structuredClone(pod) as unknown as UnstructuredObject;
  POD_KIND.applyDefaults(object);
  return object;
}

type Part = 'resize' | 'ephemeralcontainers';

/** The pod after an update of a subresource, and what is wrong with it. */
function updated(part: Part, change: (pod: Pod) => void, old = storedPod()) {
  const object = structuredClone(old);
  change(object as unknown as Pod);
  POD_KIND.prepareForUpdate(object, old, part);
  const problems = POD_KIND.validateUpdate(object, old, part).map(
    ({ field, message }) => `${field}: ${message}`,
  );
  return { pod: object as unknown as Pod, problems };
}

const setCpu = (pod: Pod, cpu: string): void => {
  pod.spec.containers[0]!.resources = { ...SMALL, requests: { ...SMALL.requests, cpu } };
};

describe('a resize', () => {
  it('changes resources of containers and sidecars, and raises the generation', () => {
    const { pod, problems } = updated('resize', (next) => {
      setCpu(next, '500m');
      next.spec.initContainers![1]!.resources = { ...SMALL, limits: { cpu: '2', memory: '512Mi' } };
    });
    expect(pod.spec.containers[0]?.resources?.requests?.['cpu']).toBe('500m');
    expect(pod.spec.initContainers?.[1]?.resources?.limits).toEqual({ cpu: '2', memory: '512Mi' });
    expect(pod.metadata.generation).toBe(2);
    expect(problems).toEqual([]);
  });

  it('changes nothing else', () => {
    const { pod, problems } = updated('resize', (next) => {
      setCpu(next, '500m');
      next.metadata.labels = { other: 'label' };
      next.spec.containers[0]!.image = 'other';
      next.spec.activeDeadlineSeconds = 5;
      next.status = { phase: 'Failed' };
    });
    expect(problems).toEqual([]);
    expect(pod).toMatchObject({
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ image: 'i', resources: { requests: { cpu: '500m' } } }, {}] },
      status: { phase: 'Running' },
    });
    expect(pod.spec).not.toHaveProperty('activeDeadlineSeconds');
  });

  const refusals: [string, (pod: Pod) => void, string[]][] = [
    [
      'takes no request away',
      ({ spec }) => (spec.containers[0]!.resources = { ...SMALL, requests: { cpu: '100m' } }),
      ['spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed'],
    ],
    [
      'takes no limit away',
      ({ spec }) => (spec.initContainers![1]!.resources = { ...SMALL, limits: { cpu: '1' } }),
      ['spec.initContainers[1].resources.limits: Forbidden: resource limits cannot be removed'],
    ],
    [
      'changes cpu and memory alone',
      ({ spec }) => (spec.containers[1]!.resources!.requests!['ephemeral-storage'] = '2Gi'),
      ['spec: Forbidden: only cpu and memory resources are mutable'],
    ],
    [
      'changes no resize policy',
      ({ spec }) =>
        (spec.initContainers![1]!.resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }]),
      ['spec: Forbidden: only cpu and memory resources for sidecar containers are mutable'],
    ],
    [
      'leaves init containers that come to an end as they are',
      ({ spec }) =>
        (spec.initContainers![0]!.resources = { ...SMALL, requests: { cpu: '1', memory: '64Mi' } }),
      ['spec: Forbidden: resources for non-sidecar init containers are immutable'],
    ],
    [
      'moves no container',
      ({ spec }) => void spec.containers.reverse(),
      [
        'spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize',
        'spec.containers[1].name: Forbidden: containers may not be renamed or reordered on resize',
      ],
    ],
    [
      'adds no container',
      ({ spec }) =>
        void spec.containers.push({
          name: 'c',
          image: 'i',
          imagePullPolicy: 'Always',
          terminationMessagePath: 'x',
          terminationMessagePolicy: 'File',
        }),
      ['spec.containers: Forbidden: containers may not be added or removed on resize'],
    ],
    [
      'asks for no more than the limit',
      (pod) => setCpu(pod, '2'),
      [
        'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      ],
    ],
  ];
  it.each(refusals)('%s', (_rule, change, expected) => {
    expect(updated('resize', change).problems).toEqual(expected);
  });

  it('keeps the class of the pod', () => {
    const old = storedPod(({ spec }) => {
      delete spec.initContainers;
      spec.containers = [
        { name: 'a', image: 'i', resources: { requests: { cpu: '1', memory: '1Gi' }, limits: SMALL.limits } },
      ];
    });
    (old as unknown as Pod).spec.containers[0]!.resources!.requests!['cpu'] = '500m';
    const { problems } = updated(
      'resize',
      ({ spec }) => (spec.containers[0]!.resources!.requests = SMALL.limits),
      old,
    );
    expect(problems).toEqual([
      'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
    ]);
  });

  it('needs a node that can do it', () => {
    const old = storedPod((pod) => {
      const status = {
        name: 'a',
        image: 'i',
        imageID: '',
        ready: true,
        restartCount: 0,
        state: { running: {} },
      };
      pod.status!.containerStatuses = [status];
    });
    expect(updated('resize', (pod) => setCpu(pod, '200m'), old).problems).toEqual([
      'spec: Forbidden: Pod running on node without support for resize',
    ]);
  });

  it.each([
    ['static pods', (pod: Pod) => (pod.metadata.annotations = { 'kubernetes.io/config.mirror': 'x' })],
    ['windows pods', (pod: Pod) => (pod.spec.os = { name: 'windows' })],
  ])('is refused for %s', (whose, change) => {
    const { problems } = updated('resize', (pod) => setCpu(pod, '200m'), storedPod(change));
    expect(problems).toEqual([`: Forbidden: ${whose} cannot be resized`]);
  });

  it('changes what a pod asks for as a whole', () => {
    const whole = { requests: { cpu: '500m', memory: '256Mi' }, limits: SMALL.limits };
    const old = storedPod(({ spec }) => (spec.resources = whole));
    const more = { ...whole, requests: { cpu: '900m', memory: '256Mi' } };
    const { pod, problems } = updated('resize', ({ spec }) => (spec.resources = more), old);
    expect(problems).toEqual([]);
    expect(pod.spec.resources).toEqual(more);
    const { problems: taken } = updated(
      'resize',
      ({ spec }) => (spec.resources = { limits: SMALL.limits }),
      old,
    );
    expect(taken).toContain('spec.resources.requests: Forbidden: resource requests cannot be removed');
  });
});

describe('an update of ephemeral containers', () => {
  const debug = {
    ...{ name: 'debug', image: 'busybox', terminationMessagePath: '/x' },
    imagePullPolicy: 'Always',
    terminationMessagePolicy: 'File',
  } as const;

  it('adds some, and nothing else', () => {
    const { pod, problems } = updated('ephemeralcontainers', ({ metadata, spec }) => {
      spec.ephemeralContainers = [debug];
      spec.containers[0]!.image = 'other';
      metadata.labels = {};
    });
    expect(problems).toEqual([]);
    expect(pod.spec.ephemeralContainers).toEqual([debug]);
    expect(pod.spec.containers[0]?.image).toBe('i');
    expect(pod.metadata).toMatchObject({ labels: { a: 'b' }, generation: 2 });
  });

  it('neither changes nor removes one that is there', () => {
    const old = storedPod(({ spec }) => (spec.ephemeralContainers = [debug]));
    const path = 'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be';
    const changed = updated(
      'ephemeralcontainers',
      ({ spec }) => (spec.ephemeralContainers![0]!.image = 'x'),
      old,
    );
    expect(changed.problems).toEqual([`${path} changed\n`]);
    const removed = updated('ephemeralcontainers', ({ spec }) => delete spec.ephemeralContainers, old);
    expect(removed.problems).toEqual([`${path} removed\n`]);
  });

  it('is refused for static pods', () => {
    const old = storedPod(({ metadata }) => (metadata.annotations = { 'kubernetes.io/config.mirror': 'x' }));
    const { problems } = updated(
      'ephemeralcontainers',
      ({ spec }) => (spec.ephemeralContainers = [debug]),
      old,
    );
    expect(problems).toEqual([': Forbidden: static pods do not support ephemeral containers']);
  });
});

describe('an update of the status', () => {
  it('keeps observed generations that a client leaves out', () => {
    const old = storedPod((pod) => {
      pod.status!.observedGeneration = 3;
      pod.status!.conditions = [{ type: 'Ready', status: 'True', observedGeneration: 3 }];
    });
    const next = structuredClone(old);
    (next as unknown as Pod).status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };
    POD_KIND.prepareForUpdate(next, old, 'status');
    expect(next.status).toMatchObject({
      observedGeneration: 3,
      conditions: [{ status: 'False', observedGeneration: 3 }],
    });
  });
});
