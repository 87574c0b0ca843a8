import { describe, expect, it } from 'vitest';
import type { PodSpec } from '../../../machinery/kubernetes/index.js';
import type { FieldError } from '../kind-definition.js';
import { defaultPodSpec } from '../../../machinery/defaults/index.js';
import { validatePodSpec } from './validate-pod-spec.js';

function problems(change: object): string[] {
  const spec = { containers: [{ name: 'a', image: 'i' }], ...structuredClone(change) } as PodSpec;
  defaultPodSpec(spec);
  const errors: FieldError[] = [];
  validatePodSpec(spec, 'spec', errors);
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

const first = (fields: object): object => ({ containers: [{ name: 'a', image: 'i', ...fields }] });

describe('validation of a pod spec', () => {
  const cases: { name: string; spec: object; expected: string[] }[] = [
    { name: 'nothing', spec: {}, expected: [] },
    {
      name: 'words that are not known',
      spec: { restartPolicy: 'Sometimes', dnsPolicy: 'Best' },
      expected: [
        'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
        'spec.dnsPolicy: Unsupported value: "Best": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
      ],
    },
    {
      name: 'a pod with users of its own shares nothing with its host',
      spec: { hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true },
      expected: ['hostNetwork', 'HostPID', 'HostIPC'].map(
        (field) => `spec.${field}: Forbidden: when \`hostUsers\` is false`,
      ),
    },
    {
      name: 'ports of the host: a template may leave them out, and not choose others',
      spec: {
        hostNetwork: true,
        ...first({
          ports: [
            { containerPort: 80 },
            { containerPort: 81, hostPort: 81 },
            { containerPort: 82, hostPort: 83 },
          ],
        }),
      },
      expected: [
        'spec.containers[0].ports[2].hostPort: Invalid value: 83: must match `containerPort` when `hostNetwork` is true',
      ],
    },
    {
      name: 'a deadline of zero',
      spec: { activeDeadlineSeconds: 0 },
      expected: ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
    },
    {
      name: 'two volumes of one name, and one of two types',
      spec: {
        volumes: [
          { name: 'v', emptyDir: {} },
          { name: 'v', emptyDir: {}, hostPath: { path: '/' } },
          { name: 's', secret: {} },
        ],
      },
      expected: [
        'spec.volumes[1].hostPath: Forbidden: may not specify more than 1 volume type',
        'spec.volumes[1].name: Duplicate value: "v"',
        'spec.volumes[2].secret.secretName: Required value',
      ],
    },
    {
      name: 'two mounts in one place',
      spec: {
        volumes: [{ name: 'v' }],
        ...first({
          volumeMounts: [
            { name: 'v', mountPath: '/a' },
            { name: 'v', mountPath: '/a' },
          ],
        }),
      },
      expected: ['spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": must be unique'],
    },
    {
      name: 'environment that cannot be',
      spec: first({
        env: [
          { name: 'A=B', value: 'x' },
          { name: 'B', valueFrom: {} },
          { name: 'C', value: 'x', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
        ],
      }),
      expected: [
        `spec.containers[0].env[0].name: Invalid value: "A=B": a valid environment variable name must consist only of printable ASCII characters other than '='`,
        'spec.containers[0].env[1].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
        'spec.containers[0].env[2].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
      ],
    },
    {
      name: 'port names that are odd or taken, and a host port taken twice',
      spec: first({
        ports: [
          { name: 'Web', containerPort: 1, hostPort: 9 },
          { name: 'b', containerPort: 2, hostPort: 9 },
          { name: 'b', containerPort: 3 },
        ],
      }),
      expected: [
        'spec.containers[0].ports[0].name: Invalid value: "Web": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
        'spec.containers[0].ports[2].name: Duplicate value: "b"',
        'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//9"',
      ],
    },
    {
      name: 'probes that cannot work',
      spec: first({
        readinessProbe: { httpGet: { port: 0, scheme: 'FTP' }, tcpSocket: { port: 1 } },
        startupProbe: { exec: {}, periodSeconds: -1 },
      }),
      expected: [
        'spec.containers[0].readinessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive',
        'spec.containers[0].readinessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
        'spec.containers[0].readinessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type',
        'spec.containers[0].startupProbe.exec.command: Required value',
        'spec.containers[0].startupProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0',
      ],
    },
    {
      name: 'resources that nobody knows, or without their limit',
      spec: first({ resources: { requests: { gold: '1', 'example.com/gpu': '1' } } }),
      expected: [
        'spec.containers[0].resources.requests[gold]: Invalid value: "gold": must be a standard resource type or fully qualified',
        'spec.containers[0].resources.requests[gold]: Invalid value: "gold": must be a standard resource for containers',
        'spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources',
      ],
    },
    {
      name: 'tolerations that contradict themselves',
      spec: {
        tolerations: [
          { key: 'a', operator: 'Exists', value: 'b' },
          { key: 'a', tolerationSeconds: 5, effect: 'NoSchedule' },
          { operator: 'Equal' },
        ],
      },
      expected: [
        'spec.tolerations[0].operator: Invalid value: "b": value must be empty when `operator` is \'Exists\'',
        'spec.tolerations[1].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
        'spec.tolerations[2].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ],
    },
    {
      name: 'spreading that is no spreading',
      spec: { topologySpreadConstraints: [{ maxSkew: 0, whenUnsatisfiable: 'Never' }] },
      expected: [
        'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
        'spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty',
        'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway"',
      ],
    },
    {
      name: 'an init container with the name of another container',
      spec: { initContainers: [{ name: 'a', image: 'i' }] },
      expected: ['spec.initContainers[0].name: Duplicate value: "a"'],
    },
  ];

  it.each(cases)('answers rightly to $name', ({ spec, expected }) => {
    expect(problems(spec)).toEqual(expected);
  });
});
