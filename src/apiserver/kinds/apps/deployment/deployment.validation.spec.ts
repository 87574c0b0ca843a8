import { describe, expect, it } from 'vitest';
import type { Deployment, UnstructuredObject } from '../../../../machinery/kubernetes/index.js';
import { DEPLOYMENT_KIND } from './deployment.kind.js';

function aDeployment(change: (deployment: Deployment) => void = () => {}): UnstructuredObject {
  const deployment: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default', uid: 'u1' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'nginx:1.25' }] },
      },
    },
  };
  change(deployment);
  const object = deployment as unknown as UnstructuredObject;
  DEPLOYMENT_KIND.applyDefaults(object);
  return object;
}

function problems(object: UnstructuredObject): string[] {
  return DEPLOYMENT_KIND.validateCreate(object).map(({ field, message }) => `${field}: ${message}`);
}

const limits = (maxSurge: number | string, maxUnavailable: number | string) => (d: Deployment) => {
  d.spec.strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
};
const PERCENT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
const unavailable = 'spec.strategy.rollingUpdate.maxUnavailable';

describe('validation of a Deployment', () => {
  it('finds nothing wrong with a plain one', () => {
    expect(problems(aDeployment())).toEqual([]);
  });

  const cases: { name: string; change: (d: Deployment) => void; expected: string[] }[] = [
    {
      name: 'negative replicas',
      change: (d) => (d.spec.replicas = -1),
      expected: ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
    },
    {
      name: 'no selector',
      change: (d) => delete (d.spec as Partial<Deployment['spec']>).selector,
      expected: [
        'spec.selector: Required value',
        'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
      ],
    },
    {
      name: 'an empty selector',
      change: (d) => (d.spec.selector = {}),
      expected: ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
    },
    {
      name: 'a selector that does not select the template',
      change: (d) => (d.spec.selector = { matchLabels: { app: 'db' } }),
      expected: [
        'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
      ],
    },
    {
      name: 'both limits zero',
      change: limits(0, 0),
      expected: [`${unavailable}: Invalid value: 0: may not be 0 when \`maxSurge\` is 0`],
    },
    {
      name: 'both limits zero percent',
      change: limits('0%', '0%'),
      expected: [`${unavailable}: Invalid value: "0%": may not be 0 when \`maxSurge\` is 0`],
    },
    {
      name: 'more than all unavailable',
      change: limits(1, '101%'),
      expected: [`${unavailable}: Invalid value: "101%": must not be greater than 100%`],
    },
    {
      name: 'a limit that is no percentage',
      change: limits('ten', 1),
      expected: [`spec.strategy.rollingUpdate.maxSurge: Invalid value: "ten": ${PERCENT}`],
    },
    {
      name: 'a negative limit',
      change: limits(-1, 1),
      expected: [
        'spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0',
      ],
    },
    {
      name: 'limits with Recreate',
      change: (d) => (d.spec.strategy = { type: 'Recreate', rollingUpdate: { maxSurge: 1 } }),
      expected: [
        "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
      ],
    },
    {
      name: 'an unknown strategy',
      change: (d) => (d.spec.strategy = { type: 'Canary' as 'Recreate' }),
      expected: [
        'spec.strategy: Unsupported value: {"Type":"Canary","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
      ],
    },
    {
      name: 'a deadline before pods can be available',
      change: (d) => Object.assign(d.spec, { minReadySeconds: 600 }),
      expected: ['spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds'],
    },
    {
      name: 'negative numbers',
      change: (d) => Object.assign(d.spec, { minReadySeconds: -1, revisionHistoryLimit: -2 }),
      expected: [
        'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
        'spec.revisionHistoryLimit: Invalid value: -2: must be greater than or equal to 0',
      ],
    },
    {
      name: 'a restart policy other than Always',
      change: (d) => (d.spec.template.spec!.restartPolicy = 'Never'),
      expected: ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    },
    {
      name: 'no containers',
      change: (d) => (d.spec.template.spec = { containers: [] }),
      expected: ['spec.template.spec.containers: Required value'],
    },
    {
      name: 'containers without image, and with the same name',
      change: (d) => (d.spec.template.spec!.containers = [{ name: 'a' }, { name: 'a', image: 'b' }]),
      expected: [
        'spec.template.spec.containers[0].image: Required value',
        'spec.template.spec.containers[1].name: Duplicate value: "a"',
      ],
    },
    {
      name: 'a container name that is no DNS label',
      change: (d) => (d.spec.template.spec!.containers[0]!.name = 'Web'),
      expected: [
        "spec.template.spec.containers[0].name: Invalid value: \"Web\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      ],
    },
    {
      name: 'ports out of range and without a number',
      change: (d) =>
        (d.spec.template.spec!.containers[0]!.ports = [
          { containerPort: 70000 },
          { containerPort: 0, protocol: 'ICMP' as 'TCP' },
        ]),
      expected: [
        'spec.template.spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
        'spec.template.spec.containers[0].ports[1].containerPort: Required value',
        'spec.template.spec.containers[0].ports[1].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
      ],
    },
    {
      name: 'a mount of a volume that is not there',
      change: (d) =>
        (d.spec.template.spec!.containers[0]!.volumeMounts = [{ name: 'data', mountPath: '/data' }]),
      expected: ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"'],
    },
    {
      name: 'a request above its limit',
      change: (d) =>
        (d.spec.template.spec!.containers[0]!.resources = {
          limits: { cpu: '500m', memory: '-1' },
          requests: { cpu: '1' },
        }),
      expected: [
        'spec.template.spec.containers[0].resources.limits[memory]: Invalid value: "-1": must be greater than or equal to 0',
        'spec.template.spec.containers[0].resources.requests: Invalid value: "1": must be less than or equal to cpu limit of 500m',
      ],
    },
    {
      name: 'a probe without a handler',
      change: (d) => (d.spec.template.spec!.containers[0]!.livenessProbe = { successThreshold: 2 }),
      expected: [
        'spec.template.spec.containers[0].livenessProbe: Required value: must specify a handler type',
        'spec.template.spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1',
      ],
    },
    {
      name: 'a label value that is too odd',
      change: (d) => (d.metadata.labels = { a: 'b c' }),
      expected: [
        "metadata.labels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ],
    },
    {
      name: 'annotations that are too big',
      change: (d) => (d.metadata.annotations = { a: 'x'.repeat(256 * 1024) }),
      expected: ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    },
    {
      name: 'a finalizer that belongs to nobody',
      change: (d) => (d.metadata.finalizers = ['mine']),
      expected: [
        'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
      ],
    },
  ];

  it.each(cases)('refuses $name', ({ change, expected }) => {
    expect(problems(aDeployment(change))).toEqual(expected);
  });

  it('refuses a changed selector', () => {
    const object = aDeployment((d) => {
      d.spec.selector = { matchLabels: { app: 'web', tier: 'a' } };
      d.spec.template.metadata = { labels: { app: 'web', tier: 'a' } };
    });
    const [error, ...others] = DEPLOYMENT_KIND.validateUpdate(object, aDeployment(), '');
    expect(others).toEqual([]);
    expect(error).toEqual({
      type: 'FieldValueInvalid',
      field: 'spec.selector',
      message: 'Invalid value: {"matchLabels":{"app":"web","tier":"a"}}: field is immutable',
    });
  });

  it('refuses a changed uid, and new finalizers once deletion is asked for', () => {
    const old = aDeployment((d) => (d.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'));
    const object = aDeployment((d) => {
      d.metadata.uid = 'u2';
      d.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
      d.metadata.finalizers = ['a.b/c'];
    });
    expect(DEPLOYMENT_KIND.validateUpdate(object, old, '').map(({ field }) => field)).toEqual([
      'metadata.finalizers',
      'metadata.uid',
      // The rules of the kind find both once more.
      'metadata.finalizers',
      'metadata.uid',
    ]);
  });

  it('refuses a status that contradicts itself', () => {
    const object = aDeployment();
    object.status = {
      replicas: 2,
      updatedReplicas: 3,
      readyReplicas: 1,
      availableReplicas: 2,
      unavailableReplicas: -1,
    };
    const errors = DEPLOYMENT_KIND.validateUpdate(object, aDeployment(), 'status');
    expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'status.unavailableReplicas: Invalid value: -1: must be greater than or equal to 0',
      'status.updatedReplicas: Invalid value: 3: cannot be greater than status.replicas',
      'status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas',
    ]);
  });
});

describe('preparation of a Deployment', () => {
  it('drops a status that is created with it, and starts at generation 1', () => {
    const object = aDeployment((d) => {
      d.status = { replicas: 5 };
      d.metadata.generation = 7;
    });
    DEPLOYMENT_KIND.prepareForCreate(object);
    expect(object).toMatchObject({ status: {}, metadata: { generation: 1 } });
  });

  const stored = () =>
    aDeployment((d) => (Object.assign(d, { status: { replicas: 5 } }).metadata.generation = 4));

  it.each([
    ['the spec', (d: UnstructuredObject) => (d.spec = { ...(d.spec as object), replicas: 9 }), 5],
    ['an annotation', (d: UnstructuredObject) => (d.metadata.annotations = { a: 'b' }), 5],
    ['a label', (d: UnstructuredObject) => (d.metadata.labels = { a: 'b' }), 4],
    ['nothing', () => undefined, 4],
  ])('an update of %s makes the right generation', (_what, change, generation) => {
    const object = aDeployment();
    change(object);
    DEPLOYMENT_KIND.prepareForUpdate(object, stored(), '');
    expect(object.metadata.generation).toBe(generation);
    expect(object.status).toEqual({ replicas: 5 });
  });

  it('an update of the status leaves spec, labels and generation alone', () => {
    const object = aDeployment((d) => {
      d.metadata.labels = { a: 'b' };
      d.spec.replicas = 9;
      d.status = { replicas: 6 };
    });
    DEPLOYMENT_KIND.prepareForUpdate(object, stored(), 'status');
    expect(object.spec).toEqual(stored().spec);
    expect(object.metadata).toMatchObject({ generation: 4 });
    expect(object.metadata.labels).toBeUndefined();
    expect(object.status).toEqual({ replicas: 6 });
  });

  it('shows and takes back a Scale', () => {
    const object = stored();
    expect(DEPLOYMENT_KIND.scale?.read(object)).toEqual({
      specReplicas: 3,
      statusReplicas: 5,
      selector: 'app=web',
    });
    DEPLOYMENT_KIND.scale?.write(object, 8);
    expect(object.spec).toMatchObject({ replicas: 8 });
  });

  it('shows the row of kubectl get', () => {
    const object = aDeployment((d) => {
      d.metadata.creationTimestamp = '2026-01-01T00:00:00Z';
      d.status = { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 };
    });
    expect(DEPLOYMENT_KIND.toRow(object, Date.parse('2026-01-01T00:05:00Z'))).toEqual([
      'web',
      '2/3',
      3,
      1,
      '5m',
      'web',
      'nginx:1.25',
      'app=web',
    ]);
  });
});
