import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../machinery/kubernetes/index.js';
import { createKindRegistry } from './kind-registry.js';
import type { KindDefinition } from './kind-definition.js';

type Fields = Record<string, unknown>;

const kinds = createKindRegistry();

function kindOf(apiVersion: string, kind: string): KindDefinition {
  const found = kinds.findByKind(apiVersion, kind);
  if (!found) throw new Error(`there is no ${kind}`);
  return found;
}

function made(definition: KindDefinition, fields: Fields): UnstructuredObject {
  const { type } = definition;
  const metadata = { name: 'x', ...(type.namespaced && { namespace: 'n' }) };
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
  const object = structuredClone({ apiVersion, kind: type.kind, metadata, ...fields }) as UnstructuredObject;
  definition.applyDefaults(object);
  return object;
}

/** The faults of an object that is created. */
function created(apiVersion: string, kind: string, fields: Fields): string[] {
  const definition = kindOf(apiVersion, kind);
  return definition
    .validateCreate(made(definition, fields))
    .map(({ field, message }) => `${field}: ${message}`);
}

/** The faults of a change. */
function changed(
  apiVersion: string,
  kind: string,
  before: Fields,
  after: Fields,
  subresource = '',
): string[] {
  const definition = kindOf(apiVersion, kind);
  const namespace = definition.type.namespaced ? { namespace: 'n' } : {};
  const version = { metadata: { name: 'x', ...namespace, resourceVersion: '1', uid: 'u' } };
  const old = made(definition, { ...before, ...version });
  const object = made(definition, { ...after, ...version });
  return definition
    .validateUpdate(object, old, subresource as '')
    .map(({ field, message }) => `${field}: ${message}`);
}

describe('a claim', () => {
  const claim = (spec: Fields = {}, status?: Fields) => ({
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
    ...(status && { status }),
  });
  const update = (before: Fields, after: Fields, subresource?: string) =>
    changed('v1', 'PersistentVolumeClaim', before, after, subresource);

  it('is refused with what differs if it is changed', () => {
    expect(update(claim({ storageClassName: 'a' }), claim({ storageClassName: 'b' }))[0]).toContain(
      'for bound claims\n@@ -10,7 +10,7 @@\n   }\n  },\n  "VolumeName": "",\n- "StorageClassName": "a",\n+ "StorageClassName": "b",',
    );
  });

  it('may shrink as far as what it has if it is bound', () => {
    const size = (storage: string) =>
      claim({ resources: { requests: { storage } } }, { phase: 'Bound', capacity: { storage: '1Gi' } });
    expect(update(size('3Gi'), size('2Gi'))).toEqual([]);
    expect(update(size('3Gi'), size('1Gi'))).toEqual([
      'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
    ]);
  });

  it('may change its class of attributes only when it is bound', () => {
    const named = (volumeAttributesClassName: string, phase: string) =>
      claim({ volumeAttributesClassName }, { phase });
    expect(update(named('a', 'Bound'), named('b', 'Bound'))).toEqual([]);
    expect(update(named('a', 'Pending'), named('b', 'Pending'))).toHaveLength(1);
  });

  it('has only words in its status that its controllers know, and amounts that are none below zero', () => {
    const status = (fields: Fields) => claim({}, fields);
    expect(update(status({}), status({ allocatedResourceStatuses: { storage: 'x' } }), 'status')[0]).toMatch(
      /^status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "Contr/,
    );
    expect(update(status({}), status({ allocatedResources: { storage: '-1' } }), 'status')).toEqual([
      'status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity',
    ]);
  });
});

describe('a volume', () => {
  const volume = (spec: Fields = {}) => ({
    spec: {
      ...{ accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
      ...{ csi: { driver: 'd.x', volumeHandle: 'h' }, ...spec },
    },
  });

  it.each<[string, Fields, string[]]>([
    [
      'alone for one pod beside a mode that is none',
      { accessModes: ['ReadWriteOncePod', 'x'] },
      ['spec.accessModes'],
    ],
    [
      'with a secret for staging that has no name',
      { csi: { driver: 'd', volumeHandle: 'h', nodeStageSecretRef: {} } },
      [],
    ],
    [
      'with a secret of no namespace',
      { csi: { driver: 'd', volumeHandle: 'h', nodePublishSecretRef: { name: 'a' } } },
      ['spec.csi.nodePublishSecretRef.namespace'],
    ],
    ['below zero', { capacity: { storage: '-1' } }, ['spec.capacity[storage]', 'spec.capacity[storage]']],
  ])('%s', (_name, spec, fields) => {
    expect(created('v1', 'PersistentVolume', volume(spec)).map((text) => text.split(': ')[0])).toEqual(
      fields,
    );
  });

  it('keeps its source and its nodes, whose labels may become the stable ones', () => {
    const on = (key: string) =>
      volume({
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['v'] }] }] },
        },
      });
    const update = (before: Fields, after: Fields) => changed('v1', 'PersistentVolume', before, after);
    expect(update(on('beta.kubernetes.io/os'), on('kubernetes.io/os'))).toEqual([]);
    expect(update(on('a'), on('b'))).toHaveLength(1);
    expect(update(volume(), volume({ csi: { driver: 'd.x', volumeHandle: 'i' } }))[0]).toContain(
      '-  "VolumeHandle": "h",\n+  "VolumeHandle": "i",',
    );
  });
});

describe('a node', () => {
  const status = (fields: Fields) => ({ spec: {}, status: fields });
  it.each<[Fields, string]>([
    [
      { capacity: { cpu: '-1' }, allocatable: { cpu: '1' } },
      'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
    ],
    [
      { allocatable: { pods: '1500m' } },
      'status.allocatable.pods: Invalid value: "1500m": must be an integer',
    ],
    [
      {
        addresses: [
          { type: 'InternalIP', address: 'a' },
          { type: 'InternalIP', address: 'a' },
        ],
      },
      'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"a"}',
    ],
  ])('tells nothing in its status that cannot be: %j', (fields, problem) => {
    expect(changed('v1', 'Node', status({}), status(fields), 'status')).toEqual([problem]);
  });
});

describe('a service', () => {
  const service = (spec: Fields) => ({ spec: { ports: [{ port: 80 }], ...spec } });
  const create = (spec: Fields) => created('v1', 'Service', service(spec));

  it('is refused for its wrong addresses alone', () => {
    expect(create({ clusterIP: 'x', clusterIPs: ['x'], ports: [] })).toEqual([
      'spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ]);
    expect(create({ ipFamilyPolicy: '' })[0]).toContain('spec.ipFamilyPolicy: Unsupported value: ""');
  });

  it('has each port once', () => {
    const port = { port: 80, protocol: 'TCP' };
    expect(
      create({
        ports: [
          { ...port, name: 'a' },
          { ...port, name: 'b' },
        ],
      }),
    ).toEqual([
      'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
    ]);
  });

  it('keeps the port by which its health is asked for', () => {
    const local = (healthCheckNodePort: number) =>
      service({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort });
    expect(changed('v1', 'Service', local(30_001), local(30_002))).toEqual([
      'spec.healthCheckNodePort: Forbidden: field is immutable',
    ]);
  });
});

describe('the status of a pod', () => {
  const pod = (status: Fields) => ({ spec: { containers: [{ name: 'c', image: 'i' }] }, status });
  const update = (before: Fields, after: Fields) =>
    changed('v1', 'Pod', pod(before), pod(after), 'status').map((text) => text.slice(0, 60));
  it.each<[Fields, Fields, string]>([
    [{}, { conditions: [{ type: 'a b' }] }, 'status.conditions[0].Type: Invalid value: "a b": name part m'],
    [{}, { podIP: 'x' }, 'status.podIPs[0]: Invalid value: "x": must be a valid IP add'],
    [
      {},
      { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] },
      'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0',
    ],
    [
      { qosClass: 'Burstable' },
      { qosClass: 'Guaranteed' },
      'status.qosClass: Invalid value: "Guaranteed": field is immut',
    ],
  ])('tells nothing that cannot be: %j, then %j', (before, after, problem) => {
    expect(update(before, after)).toEqual([problem]);
  });

  it('has the one address and the list of them agree', () => {
    const definition = kindOf('v1', 'Pod');
    expect(
      made(definition, pod({ podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.2' }] }))['status'],
    ).toMatchObject({
      podIPs: [{ ip: '10.0.0.1' }],
    });
    expect(made(definition, pod({ podIPs: [{ ip: '10.0.0.2' }] }))['status']).toMatchObject({
      podIP: '10.0.0.2',
    });
  });
});

describe('a class of storage', () => {
  const GROUP = 'storage.k8s.io/v1';
  const topology = (...keys: string[]) => ({
    provisioner: 'a.b/c',
    allowedTopologies: keys.map((key) => ({ matchLabelExpressions: [{ key, values: ['z'] }] })),
  });

  it('has each topology once, and none that is empty', () => {
    expect(created(GROUP, 'StorageClass', topology('a', 'b'))).toEqual([]);
    expect(created(GROUP, 'StorageClass', topology('a', 'a'))).toEqual([
      'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
    ]);
    expect(created(GROUP, 'StorageClass', { provisioner: 'p', allowedTopologies: [{}] })).toHaveLength(1);
  });

  it('keeps what it is', () => {
    expect(
      changed(GROUP, 'StorageClass', { provisioner: 'a' }, { provisioner: 'b', parameters: { k: 'v' } }),
    ).toEqual([
      'provisioner: Invalid value: "b": field is immutable',
      'parameters: Invalid value: {"k":"v"}: field is immutable',
    ]);
  });
});

describe('a policy', () => {
  const GROUP = 'admissionregistration.k8s.io/v1';
  const rule = { apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'] };
  const policy = (spec: Fields) =>
    created(GROUP, 'ValidatingAdmissionPolicy', {
      spec: { matchConstraints: { resourceRules: [rule] }, ...spec },
    });
  const judged = (expression: string) => policy({ validations: [{ expression }] });

  it.each([
    ['object.spec.ok', 'but got dyn'],
    ['[object]', 'but got list(dyn)'],
    ['"a"', 'but got string'],
    ['params.a == 1', "undeclared reference to 'params'"],
    ['variables.a == 1', "undeclared reference to 'variables'"],
  ])('gives a verdict, of what it knows: %s', (expression, words) => {
    expect(judged(expression)).toEqual([expect.stringContaining(words)]);
  });

  it.each([
    'object.spec.a == 1',
    'request.dryRun',
    'request.userInfo.groups.exists(group, group == "a") && request.userInfo.extra["k"].size() == 1',
    'namespaceObject == null || namespaceObject.metadata.name == "a"',
  ])('may ask %s', (expression) => {
    expect(judged(expression)).toEqual([]);
  });

  it.each([
    ['request.object.spec == 1', "undefined field 'object'"],
    ['namespaceObject.metadata.managedFields == null', "undefined field 'managedFields'"],
    ['request.userInfo.username', 'must evaluate to bool but got string'],
    ['request.name == 1', "found no matching overload for '_==_' applied to '(string, int)'"],
    ['request.options.dryRun', 'must evaluate to bool but got dyn'],
  ])('knows the types of the request and of the namespace: %s', (expression, words) => {
    expect(judged(expression)).toEqual([expect.stringContaining(words)]);
  });

  it('knows the types of its variables, as far as their expressions have any', () => {
    const variables = [
      { name: 'one', expression: '1' },
      { name: 'two', expression: '[variables.one + 1]' },
      { name: 'user', expression: 'request.userInfo' },
      { name: 'any', expression: 'object.spec' },
    ];
    const withVariables = (expression: string): string[] =>
      policy({ variables, validations: [{ expression }] });
    expect(withVariables('variables.two.all(each, each > variables.one) && variables.any.b == "c"')).toEqual(
      [],
    );
    expect(withVariables('variables.user.nothing == 1')).toEqual([]);
    expect(withVariables('variables.one == "a"')).toEqual([expect.stringContaining("'(int, string)'")]);
    expect(withVariables('variables.two')).toEqual([expect.stringContaining('but got list(int)')]);
    expect(withVariables('variables.any')).toEqual([expect.stringContaining('but got dyn')]);
    const early = [
      { name: 'a', expression: 'variables.b' },
      { name: 'b', expression: '1' },
    ];
    expect(policy({ variables: early, validations: [{ expression: 'variables.a == "c"' }] })).toEqual([
      expect.stringContaining("undefined field 'b'"),
    ]);
  });

  it('has parameters of a kind that can be, and notes of a name that can be', () => {
    const validations = [{ expression: 'true' }];
    expect(policy({ validations, paramKind: { apiVersion: 'a/b/c', kind: 'X Y' } })).toHaveLength(2);
    expect(policy({ validations, auditAnnotations: [{ key: 'a b', valueExpression: '1' }] })).toEqual([
      expect.stringContaining('spec.auditAnnotations[0].key: Invalid value: "x/a b"'),
      'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
    ]);
  });
});

describe('words and numbers', () => {
  const queuing = (queues: number, handSize: number) => ({
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: { queues, handSize } } } },
  });
  const toleration = { key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' };
  it.each<[string, string, Fields, string]>([
    [
      'flowcontrol.apiserver.k8s.io/v1',
      'PriorityLevelConfiguration',
      queuing(70_000, 4),
      'required entropy bits of deckSize 70000 and handSize 4 should not be greater than 60',
    ],
    ['scheduling.k8s.io/v1', 'PriorityClass', { preemptionPolicy: '' }, 'preemptionPolicy: Required value'],
    ['node.k8s.io/v1', 'RuntimeClass', {}, 'handler: Required value'],
    [
      'node.k8s.io/v1',
      'RuntimeClass',
      { handler: 'h', scheduling: { tolerations: [toleration, toleration] } },
      'scheduling.tolerations[1]: Duplicate value: {"Key":"k","Operator":"Equal"',
    ],
    [
      'v1',
      'Secret',
      { type: 'kubernetes.io/ssh-auth', data: { 'ssh-privatekey': '' } },
      'data[ssh-privatekey]: Required value',
    ],
    [
      'v1',
      'Secret',
      { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'W10=' } },
      'json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
    [
      'v1',
      'ResourceQuota',
      { spec: { scopes: ['a'] } },
      'spec.scopes: Invalid value: ["a"]: unsupported scope',
    ],
    [
      'networking.k8s.io/v1',
      'NetworkPolicy',
      { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80, endPort: 79 }] }] } },
      'endPort: Invalid value: 80: must be greater than or equal to `port`',
    ],
    [
      'storage.k8s.io/v1',
      'VolumeAttachment',
      { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'A' } } },
      'spec.source.persistentVolumeName: Invalid value: "A"',
    ],
  ])('are judged in %s %s: %j', (apiVersion, kind, fields, problem) => {
    expect(created(apiVersion, kind, fields)).toEqual([expect.stringContaining(problem)]);
  });
});
