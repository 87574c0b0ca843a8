import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../machinery/kubernetes/index.js';
import { decodeJson, createSchemaRegistry } from '../schema/index.js';
import { createKindRegistry } from './kind-registry.js';
import type { KindDefinition, Subresource } from './kind-definition.js';

type Fields = Record<string, unknown>;

const kinds = createKindRegistry();
const schemas = createSchemaRegistry();

function kindOf(apiVersion: string, kind: string): KindDefinition {
  const found = kinds.findByKind(apiVersion, kind);
  if (!found) throw new Error(`there is no ${kind}`);
  return found;
}

/** An object as it is read from a request. */
function read(kind: KindDefinition, fields: Fields): UnstructuredObject {
  const namespace = kind.type.namespaced ? { namespace: 'n' } : {};
  const metadata = { name: 'x', ...namespace, ...(fields.metadata as Fields | undefined) };
  const { object } = decodeJson(JSON.stringify({ ...fields, metadata }), schemas, kind.schema);
  kind.applyDefaults(object);
  return object;
}

function created(apiVersion: string, name: string, fields: Fields): string[] {
  const kind = kindOf(apiVersion, name);
  return texts(kind.validateCreate(read(kind, fields)));
}

function changed(
  [apiVersion, name]: readonly [string, string],
  [before, after]: readonly [Fields, Fields],
  subresource: Subresource = '',
): string[] {
  const kind = kindOf(apiVersion, name);
  const object = read(kind, after);
  const old = read(kind, before);
  kind.prepareForUpdate(object, old, subresource);
  return texts(kind.validateUpdate(object, old, subresource));
}

function texts(errors: ReturnType<KindDefinition['validateCreate']>): string[] {
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

describe('a Service', () => {
  const service = (spec: Fields, metadata: Fields = {}) => ({
    metadata,
    spec: { ports: [{ port: 80 }], clusterIP: '10.96.1.1', clusterIPs: ['10.96.1.1'], ...spec },
  });
  const OUT_OF_RANGE =
    'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767';

  it('keeps its address where only the list of addresses is written, and the list has to begin with it', () => {
    const before = service({});
    const after = { spec: { ports: [{ port: 80 }], clusterIPs: ['10.96.9.9'], type: 'Other' } };
    expect(changed(['v1', 'Service'], [before, after])[0]).toBe(
      'spec.clusterIPs: Invalid value: ["10.96.9.9"]: first value must match `clusterIP`',
    );
  });

  it('keeps no policy for traffic within the cluster if it is the name of an external host', () => {
    const spec = { type: 'ExternalName', externalName: 'shop.example.org', internalTrafficPolicy: 'Local' };
    expect(read(kindOf('v1', 'Service'), { spec })).not.toHaveProperty('spec.internalTrafficPolicy');
  });

  it('has ports of nodes in their range only where they are allocated', () => {
    const ports = [{ port: 80, nodePort: 80 }];
    expect(created('v1', 'Service', service({ ports, type: 'NodePort' }))).toEqual([OUT_OF_RANGE]);
    expect(created('v1', 'Service', service({ ports }))).toEqual([
      "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
    ]);
  });

  it('is refused for what is allocated before anything else is said', () => {
    const metadata = { labels: { a: 'x'.repeat(64) } };
    expect(created('v1', 'Service', service({ ipFamilyPolicy: 'Some' }, metadata))).toEqual([
      'spec.ipFamilyPolicy: Unsupported value: "Some": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
    ]);
  });

  it('with the class of a balancer that it is not is refused for that, and not for the name', () => {
    const wrong = "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'";
    const after = service({ loadBalancerClass: 'Bad Value!', ports: [{ port: 80, name: 'a.b' }] });
    expect(created('v1', 'Service', service({ loadBalancerClass: 'Bad Value!' }))).toEqual([wrong]);
    expect(changed(['v1', 'Service'], [service({}), after])).toEqual([
      wrong,
      'spec.ports[0].name: Invalid value: "a.b": must not contain dots',
      wrong,
    ]);
  });

  it('has no addresses of a balancer if it is none, right or wrong', () => {
    const after = { ...service({}), status: { loadBalancer: { ingress: [{ ip: 'x' }] } } };
    expect(changed(['v1', 'Service'], [service({}), after], 'status')).toEqual([
      "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
    ]);
  });
});

describe('values that were written as empty', () => {
  it('is shown as that, and not as null', () => {
    const topology = { provisioner: 'p.x' };
    const parameters = { a: '1' };
    expect(
      changed(
        ['storage.k8s.io/v1', 'StorageClass'],
        [
          { ...topology, parameters },
          { ...topology, parameters: {} },
        ],
      ),
    ).toEqual(['parameters: Invalid value: {}: field is immutable']);
    expect(created('networking.k8s.io/v1', 'Ingress', { spec: { rules: [] } })).toEqual([
      'spec: Invalid value: []: either `defaultBackend` or `rules` must be specified',
    ]);
  });

  it('raises the generation of a NetworkPolicy, and no other', () => {
    const generation = (apiVersion: string, name: string, spec: Fields) => {
      const kind = kindOf(apiVersion, name);
      const object = read(kind, { spec });
      const old = read(kind, { spec: {}, metadata: { generation: 1 } });
      kind.prepareForUpdate(object, old, '');
      return object.metadata.generation;
    };
    expect(generation('networking.k8s.io/v1', 'NetworkPolicy', { egress: [] })).toBe(2);
    expect(generation('policy/v1', 'PodDisruptionBudget', { selector: undefined })).toBe(1);
  });
});

describe('maps in messages', () => {
  it('have their keys in order', () => {
    const storage = (parameters: Fields) => ({ provisioner: 'p.x', parameters });
    expect(
      changed(['storage.k8s.io/v1', 'StorageClass'], [storage({ b: '1' }), storage({ b: '1', a: '2' })]),
    ).toEqual(['parameters: Invalid value: {"a":"2","b":"1"}: field is immutable']);
  });
});

describe('the volumes of a pod and the sources of a PersistentVolume', () => {
  const TWICE = 'Forbidden: may not specify more than 1 volume type';

  it('are looked for in the order of a genuine server', () => {
    const volumes = [{ name: 'v', configMap: { name: 'c' }, persistentVolumeClaim: { claimName: 'p' } }];
    expect(created('v1', 'Pod', { spec: { containers: [{ name: 'c', image: 'i' }], volumes } })).toEqual([
      `spec.volumes[0].configMap: ${TWICE}`,
    ]);
  });

  it('have the names that a genuine server gives them', () => {
    const volume = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1' } };
    const spec = {
      ...volume,
      csi: { driver: 'd.x', volumeHandle: 'h' },
      gcePersistentDisk: {},
      flexVolume: {},
    };
    expect(created('v1', 'PersistentVolume', { spec })).toEqual([
      'spec.persistentDisk.pdName: Required value',
      'spec.flexVolume.driver: Required value',
      `spec.csi: ${TWICE}`,
    ]);
  });

  it('need CSI for a class of attributes', () => {
    const volume = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1' } };
    const spec = { ...volume, nfs: { server: 's', path: '/' }, volumeAttributesClassName: 'a' };
    expect(created('v1', 'PersistentVolume', { spec })).toEqual([
      'spec.csi: Required value: has to be specified when using volumeAttributesClassName',
    ]);
  });
});

describe('the variables of a container', () => {
  it('from files name a volume that is there, a path and a key', () => {
    const valueFrom = { fileKeyRef: { volumeName: 'a.b', path: '../p', key: 'x=y' } };
    const spec = { containers: [{ name: 'c', image: 'i', env: [{ name: 'A', valueFrom }] }] };
    const path = 'spec.containers[0].env[0].valueFrom.fileKeyRef';
    expect(created('v1', 'Pod', { spec })).toEqual([
      `${path}.volumeName: Invalid value: "a.b": must not contain dots`,
      `${path}.path: Invalid value: "../p": must not contain '..'`,
      expect.stringMatching(/fileKeyRef\.key: Invalid value: "x=y": /),
      `${path}.volumeName: Not found: "a.b"`,
    ]);
  });

  it('are complained about before the ports of its node', () => {
    const container = {
      name: 'c',
      image: 'i',
      ports: [{ containerPort: 1, hostPort: 2 }],
      env: [{ name: '' }],
    };
    expect(created('v1', 'Pod', { spec: { hostNetwork: true, containers: [container] } })).toEqual([
      'spec.containers[0].env[0].name: Required value',
      'spec.containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is true',
    ]);
  });
});

describe('a ResourceQuota', () => {
  const quota = (spec: Fields) => created('v1', 'ResourceQuota', { spec });
  const SCOPED = 'unsupported scope applied to resource';

  it('has an error for each resource that a scope has nothing to do with', () => {
    const hard = { pods: '1', services: '1', secrets: '1' };
    expect(quota({ hard, scopes: ['NotTerminating'] })).toEqual(
      Array(2).fill(`spec.scopes: Invalid value: ["NotTerminating"]: ${SCOPED}`),
    );
    const matchExpressions = [{ scopeName: 'VolumeAttributesClass', operator: 'Exists' }];
    expect(
      quota({ hard: { pods: '1', persistentvolumeclaims: '1' }, scopeSelector: { matchExpressions } }),
    ).toEqual([
      `spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"VolumeAttributesClass","Operator":"Exists","Values":null}]}: ${SCOPED}`,
    ]);
  });

  it('counts no more than a genuine server can', () => {
    expect(quota({ hard: { pods: '10000000001000000000' } })).toEqual([
      'spec.hard[pods]: Invalid value: "10000000001G": must be an integer',
    ]);
  });
});

describe('networks', () => {
  const policy = (cidr: string) => ({ spec: { ingress: [{ from: [{ ipBlock: { cidr } }] }] } });
  const KIND = ['networking.k8s.io/v1', 'NetworkPolicy'] as const;

  it('name no host in a policy, unless they did before', () => {
    const wrong = [
      'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
    ];
    expect(created(...KIND, policy('10.0.0.1/8'))).toEqual(wrong);
    expect(changed(KIND, [policy('10.0.0.0/8'), policy('10.0.0.1/8')])).toEqual(wrong);
    expect(changed(KIND, [policy('10.0.0.1/8'), policy('10.0.0.1/8')])).toEqual([]);
  });

  it('and addresses are not read as octal numbers', () => {
    const subsets = [{ addresses: [{ ip: '010.1.2.3' }], ports: [{ port: 1 }] }];
    expect(created('v1', 'Endpoints', { subsets })).toEqual([
      'subsets[0].addresses[0].ip: Invalid value: "010.1.2.3": must not have leading 0s',
    ]);
  });
});

describe('a definition', () => {
  it('accepts only names that its objects could have', () => {
    const names = { plural: 'things', kind: 'Thing' };
    const spec = {
      group: 'x.io',
      scope: 'Cluster',
      names,
      versions: [{ name: 'v1', served: true, storage: true }],
    };
    const after = { spec, status: { acceptedNames: { plural: 'a.b', kind: 'Thing', categories: ['é'] } } };
    expect(
      changed(['apiextensions.k8s.io/v1', 'CustomResourceDefinition'], [{ spec }, after], 'status'),
    ).toEqual([
      expect.stringMatching(/^status\.acceptedNames\.plural: Invalid value: "a\.b": a DNS-1035 label /),
      expect.stringMatching(/^status\.acceptedNames\.categories\[0\]: Invalid value: "é": a DNS-1035 label /),
    ]);
  });

  it('has the stored version of its spec if its status names none', () => {
    const kind = kindOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
    const spec = { versions: [{ name: 'v1', storage: true }] };
    expect(read(kind, { spec, status: { conditions: [] } }).status).toEqual({ storedVersions: ['v1'] });
  });
});

describe('a node', () => {
  it('has features whose names say so, and no configuration from elsewhere', () => {
    const status = { declaredFeatures: ['Fine/one', 'Bad_Value!'] };
    expect(changed(['v1', 'Node'], [{}, { status }], 'status')).toEqual([
      expect.stringMatching(
        /^status\.declaredFeatures\[1\]: Invalid value: "Bad_Value!": invalid feature name /,
      ),
    ]);
    const kind = kindOf('v1', 'Node');
    const node = read(kind, { spec: { configSource: {} } });
    kind.prepareForUpdate(node, read(kind, {}), '');
    expect(node.spec).not.toHaveProperty('configSource');
  });
});

describe('a request for a certificate', () => {
  it('is decided by no status, and keeps its decision in one', () => {
    const kind = ['certificates.k8s.io/v1', 'CertificateSigningRequest'] as const;
    const decided = (status: string) => ({ status: { conditions: [{ type: 'Approved', status }] } });
    expect(changed(kind, [{}, decided('False')], 'status')).toEqual([
      'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
      'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
    ]);
    expect(changed(kind, [decided('True'), decided('False')], 'status')).toEqual([]);
  });
});

describe('a service account', () => {
  it('keeps the names of its secrets, and nothing else of them', () => {
    const kind = kindOf('v1', 'ServiceAccount');
    const account = read(kind, { secrets: [{ name: 's', uid: 'u' }, { apiVersion: 'v1' }] });
    kind.prepareForCreate(account);
    expect(account.secrets).toEqual([{ name: 's' }, {}]);
  });
});

describe('the metadata of an update', () => {
  it('is said in the midst of the rest by kinds that look at the whole first', () => {
    const binding = (roleRef: Fields, labels: Fields = {}) => ({ metadata: { labels }, roleRef });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };
    const after = binding({ ...roleRef, name: 'other' }, { a: 'é' });
    const errors = changed(['rbac.authorization.k8s.io/v1', 'RoleBinding'], [binding(roleRef), after]);
    expect(errors.map((error) => error.split(':')[0])).toEqual([
      ...Array<string>(4).fill('metadata.labels'),
      'roleRef',
    ]);
    const broken = changed(
      ['rbac.authorization.k8s.io/v1', 'RoleBinding'],
      [binding(roleRef), binding({ ...roleRef, name: '' }, { a: 'é' })],
    );
    expect(broken.map((error) => error.split(':')[0])).toEqual([
      ...Array<string>(3).fill('metadata.labels'),
      ...['roleRef.name', 'metadata.labels', 'roleRef'],
    ]);
  });
});

describe('a Job', () => {
  it('keeps the labels by which it finds its pods', () => {
    const kind = kindOf('batch/v1', 'Job');
    const spec = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } };
    const old = read(kind, { metadata: { uid: 'u' }, spec });
    kind.prepareForCreate(old);
    const object = structuredClone(old);
    const { metadata } = (object.spec as { template: { metadata: { labels: Record<string, string> } } })
      .template;
    delete metadata.labels['job-name'];
    expect(texts(kind.validateUpdate(object, old, ''))[0]).toBe(
      "spec.template.metadata.labels[job-name]: Required value: must be 'x'",
    );
  });
});

describe('a ResourceSlice', () => {
  it('says when its taints were added, and has no lists of attributes', () => {
    const kind = kindOf('resource.k8s.io/v1', 'ResourceSlice');
    const taints = [{ key: 'bad', effect: 'NoSchedule' }];
    const devices = [{ name: 'd', taints, attributes: { a: { string: 'x', strings: ['y'] } } }];
    const slice = read(kind, { spec: { driver: 'd.x', devices } });
    kind.prepareForCreate(slice, Date.parse('2026-01-01T00:00:00Z'));
    expect(slice.spec).toMatchObject({
      devices: [{ taints: [{ timeAdded: '2026-01-01T00:00:00Z' }], attributes: { a: { string: 'x' } } }],
    });
    expect(JSON.stringify(slice.spec)).not.toContain('strings');
  });
});

describe('an update of a Pod', () => {
  it('asks for a missing image twice, as every container has one and an update may change only that', () => {
    const pod = (container: Fields) => ({ spec: { containers: [{ name: 'c', ...container }] } });
    const said = changed(['v1', 'Pod'], [pod({ image: 'app:1' }), pod({})]);
    expect(said.filter((text) => text === 'spec.containers[0].image: Required value')).toHaveLength(2);
  });
});
