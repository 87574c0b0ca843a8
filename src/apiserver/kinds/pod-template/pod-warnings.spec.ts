import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../machinery/kubernetes/index.js';
import { podTemplateWarnings, podWarnings, templateOwnerWarnings } from './pod-warnings.js';

const container = (name: string, fields: object = {}): object => ({ name, image: 'i', ...fields });

function warnings(spec: object, metadata: object = {}): string[] {
  return podTemplateWarnings({
    metadata,
    spec: { containers: [container('a')], ...spec },
  });
}

describe('warnings of pod templates', () => {
  const cases: { name: string; spec: object; metadata?: object; expected: string[] }[] = [
    { name: 'nothing', spec: {}, expected: [] },
    {
      name: 'a port name in two containers',
      spec: {
        containers: [
          container('a', { ports: [{ name: 'http', containerPort: 80 }] }),
          container('b', { ports: [{ name: 'http', containerPort: 81 }] }),
        ],
      },
      expected: [
        'spec.template.spec.containers[1].ports[0]: duplicate port name "http" with spec.template.spec.containers[0].ports[0], services and probes that select ports by name will use spec.template.spec.containers[0].ports[0]',
      ],
    },
    {
      name: 'one port of the pod, defined four times',
      spec: {
        containers: [
          container('a', {
            ports: [
              { containerPort: 80, hostPort: 8080 },
              { containerPort: 80, hostPort: 8080, hostIP: '10.0.0.1' },
              { containerPort: 80 },
              { containerPort: 80, protocol: 'UDP' },
              { containerPort: 80, protocol: 'UDP' },
            ],
          }),
        ],
      },
      expected: [
        '[1]: dangerously ambiguous port definition with [0]',
        '[2]: overlapping port definition with [0]',
        '[2]: overlapping port definition with [1]',
        '[4]: duplicate port definition with [3]',
      ].map((text) => text.replaceAll('[', 'spec.template.spec.containers[0].ports[')),
    },
    {
      name: 'a variable that hides another, and one that goes on from it',
      spec: {
        containers: [
          container('a', {
            env: [
              { name: 'X', value: '1' },
              { name: 'X', value: '$(X)2' },
              { name: 'X', value: '3' },
            ],
          }),
        ],
      },
      expected: [
        'spec.template.spec.containers[0].env[2]: hides previous definition of "X", which may be dropped when using apply',
      ],
    },
    {
      name: 'part of a byte',
      spec: { containers: [container('a', { resources: { requests: { memory: '100m' } } })] },
      expected: [
        'spec.template.spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
      ],
    },
    {
      name: 'labels of nodes that have new names',
      spec: {
        nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
        topologySpreadConstraints: [{ topologyKey: 'failure-domain.beta.kubernetes.io/zone' }],
      },
      expected: [
        'spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
        'spec.template.spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
        'spec.template.spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
      ],
    },
    {
      name: 'lists that say something twice',
      spec: {
        hostAliases: [{ ip: '10.0.0.1' }, { ip: '10.0.0.1' }],
        imagePullSecrets: [{ name: 's' }, { name: 's' }, {}],
      },
      expected: [
        'spec.template.spec.hostAliases[1].ip: duplicate ip "10.0.0.1"',
        'spec.template.spec.imagePullSecrets[1].name: duplicate name "s"',
        'spec.template.spec.imagePullSecrets[2].name: invalid empty name ""',
      ],
    },
    {
      name: 'what has no effect any more',
      spec: { volumes: [{ name: 'v', gitRepo: { repository: 'r' } }], terminationGracePeriodSeconds: -1 },
      metadata: {
        annotations: {
          'scheduler.alpha.kubernetes.io/critical-pod': '',
          'container.seccomp.security.alpha.kubernetes.io/c': 'x',
        },
      },
      expected: [
        'spec.template.metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
        'spec.template.metadata.annotations[container.seccomp.security.alpha.kubernetes.io/c]: non-functional in v1.27+; use the "seccompProfile" field instead',
        'spec.template.spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+',
        'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
      ],
    },
    {
      name: 'a term without a selector',
      spec: {
        affinity: {
          podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'a' }] },
        },
      },
      expected: [
        'spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod',
      ],
    },
  ];
  it.each(cases)('$name', ({ spec, metadata, expected }) => {
    expect(warnings(spec, metadata)).toEqual(expected);
  });
});

describe('warnings of pods', () => {
  it('name the fields of the pod, and a name that is no host name', () => {
    const pod = {
      metadata: { name: 'web.0' },
      spec: { containers: [container('a')], hostAliases: [{ ip: '::1' }, { ip: '::1' }] },
    } as unknown as Pod;
    expect(podWarnings(pod)).toEqual([
      expect.stringContaining("metadata.name: this is used in the Pod's hostname, which can result in"),
      'spec.hostAliases[1].ip: duplicate ip "::1"',
    ]);
  });
});

describe('warnings of what has a template', () => {
  const warn = templateOwnerWarnings(() => ['doubtful']);
  const object = (generation: number) => ({
    apiVersion: 'v1',
    kind: 'A',
    metadata: { name: 'a', generation },
  });

  it('come at the creation and with every change of the spec, and with no other update', () => {
    expect(warn(object(1))).toEqual(['doubtful']);
    expect(warn(object(2), object(1))).toEqual(['doubtful']);
    expect(warn(object(2), object(2))).toEqual([]);
  });
});
