import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../machinery/kubernetes/index.js';
import { createKindRegistry } from './index.js';

const kinds = createKindRegistry();
const UID = '11111111-2222-3333-4444-555555555555';

type Parts = Readonly<Record<string, unknown>>;

function anObject(apiVersion: string, kind: string, parts: Parts): UnstructuredObject {
  return { apiVersion, kind, metadata: { name: 'a', namespace: 'default', uid: UID }, ...parts };
}

function created(apiVersion: string, kind: string, parts: Parts): string[] {
  const found = kinds.findByKind(apiVersion, kind)!;
  const object = anObject(apiVersion, kind, parts);
  if (!found.type.namespaced) delete object.metadata.namespace;
  return found.validateCreate(object).map(({ field, message }) => `${field}: ${message}`);
}

function updated(apiVersion: string, kind: string, parts: Parts, before: Parts, subresource = ''): string[] {
  const found = kinds.findByKind(apiVersion, kind)!;
  const [object, old] = [anObject(apiVersion, kind, parts), anObject(apiVersion, kind, before)];
  if (!found.type.namespaced) for (const one of [object, old]) delete one.metadata.namespace;
  const errors = found.validateUpdate(object, old, subresource as '' | 'status');
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

const podSpec = (container: Parts, spec: Parts = {}): Parts => ({
  spec: {
    restartPolicy: 'Always',
    dnsPolicy: 'ClusterFirst',
    containers: [
      { name: 'c', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File', ...container },
    ],
    ...spec,
  },
});

describe('the refusals of a genuine server of 1.36', () => {
  it('is a container with restart rules that are not complete', () => {
    const rule = { exitCodes: { values: [1] } };
    expect(created('v1', 'Pod', podSpec({ restartPolicyRules: [rule, { action: 'Restart' }] }))).toEqual([
      'spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used',
      'spec.containers[0].restartPolicyRules[0].action: Unsupported value: "": supported values: "Restart", "RestartAllContainers"',
      'spec.containers[0].restartPolicyRules[0].exitCodes.operator: Unsupported value: "": supported values: "In", "NotIn"',
      'spec.containers[0].restartPolicyRules[1].exitCodes: Required value: must be specified',
    ]);
    const complete = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } };
    const many = Array.from({ length: 21 }, () => complete);
    expect(created('v1', 'Pod', podSpec({ restartPolicy: 'Never', restartPolicyRules: many }))).toEqual([
      'spec.containers[0].restartPolicyRules: Too many: 21: must have at most 20 items',
    ]);
    expect(created('v1', 'Pod', podSpec({ restartPolicy: 'Never', restartPolicyRules: [complete] }))).toEqual(
      [],
    );
  });

  it('is a host process without the network of its host, or beside another container', () => {
    const securityContext = { windowsOptions: { hostProcess: true } };
    const network =
      'spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers';
    expect(created('v1', 'Pod', podSpec({ securityContext }))).toEqual([network]);
    expect(created('v1', 'Pod', podSpec({ securityContext }, { hostNetwork: true }))).toEqual([]);
    const ofPod = { securityContext: { windowsOptions: { hostProcess: false } } };
    expect(created('v1', 'Pod', podSpec({ securityContext }, ofPod))[0]).toBe(
      'spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: true: pod hostProcess value must be identical if both are specified, was false',
    );
  });

  it('is a status that maps devices of containers that are not there', () => {
    const mapping = { containerName: 'x', resourceName: 'r', requestName: 'a.b' };
    const status = {
      extendedResourceClaimStatus: { requestMappings: [mapping, mapping], resourceClaimName: 'É' },
    };
    const found = updated('v1', 'Pod', { ...podSpec({}), status }, podSpec({}), 'status');
    expect(found.map((text) => text.slice(0, 110))).toEqual([
      'status.extendedResourceClaimStatus.requestMappings[0].containerName: Invalid value: "x": must match the name o',
      'status.extendedResourceClaimStatus.requestName: Invalid value: "a.b": must not contain dots',
      'status.extendedResourceClaimStatus.requestMappings[1].containerName: Invalid value: "x": must match the name o',
      'status.extendedResourceClaimStatus.requestName: Invalid value: "a.b": must not contain dots',
      'status.extendedResourceClaimStatus.requestMappings[1].containerName: Duplicate value: "x"',
      'status.extendedResourceClaimStatus.requestMappings[1].resourceName: Duplicate value: "r"',
      'status.extendedResourceClaimStatus.requestMappings[1].requestName: Duplicate value: "a.b"',
      expect.stringContaining('status.extendedResourceClaimStatus.resourceClaimName: Invalid value: "É"'),
    ]);
  });

  it('is a template of claims with more metadata than labels and annotations', () => {
    const metadata = { labels: { a: 'b' }, generateName: 'a-', ownerReferences: [{ kind: 'K' }] };
    const requests = [
      { name: 'r', exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 } },
    ];
    const spec = { metadata, spec: { devices: { requests } } };
    expect(created('resource.k8s.io/v1', 'ResourceClaimTemplate', { spec })).toEqual([
      'spec.metadata.generateName: Forbidden: cannot be set',
      'spec.metadata.ownerReferences: Forbidden: cannot be set',
    ]);
  });

  it('is a CSI driver whose tokens no one requests, and one whose tokens are requested too often', () => {
    const spec = {
      fsGroupPolicy: 'File',
      serviceAccountTokenInSecrets: true,
      nodeAllocatableUpdatePeriodSeconds: 9,
    };
    expect(created('storage.k8s.io/v1', 'CSIDriver', { spec })).toEqual([
      'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds',
      'spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified',
    ]);
  });

  it('is a request for a certificate that is approved and denied: the second of both is named', () => {
    const found = kinds.findByKind('certificates.k8s.io/v1', 'CertificateSigningRequest')!;
    const conditions = ['Denied', 'Approved'].map((type) => ({ type, status: 'True' }));
    const [object, old] = [{ conditions }, {}].map((status) =>
      anObject('certificates.k8s.io/v1', 'CertificateSigningRequest', { spec: {}, status }),
    );
    for (const one of [object!, old!]) delete one.metadata.namespace;
    const errors = found.validateUpdate(object!, old!, 'approval');
    expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'status.conditions: Invalid value: "Approved": Approved and Denied conditions are mutually exclusive',
    ]);
  });

  it('is a condition of a budget that says nothing', () => {
    const spec = { selector: {} };
    const counts = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 };
    const conditions = [
      { type: 'A', status: 'x', lastTransitionTime: '2026-01-01T00:00:00Z', reason: '9' },
      { type: 'A', status: 'True', observedGeneration: -1 },
    ];
    const found = updated(
      'policy/v1',
      'PodDisruptionBudget',
      { spec, status: { ...counts, conditions } },
      { spec },
      'status',
    );
    expect(found).toEqual([
      'status.conditions[0].status: Unsupported value: "x": supported values: "False", "True", "Unknown"',
      expect.stringContaining(
        'status.conditions[0].reason: Invalid value: "9": a condition reason must start',
      ),
      'status.conditions[1].type: Duplicate value: "A"',
      'status.conditions[1].observedGeneration: Invalid value: -1: must be greater than or equal to zero',
      'status.conditions[1].lastTransitionTime: Required value: must be set',
      'status.conditions[1].reason: Required value: must be set',
    ]);
  });

  it('is shown of a budget as Kubernetes has it inside', () => {
    const spec = { minAvailable: 1, maxUnavailable: '50%', selector: {} };
    expect(created('policy/v1', 'PodDisruptionBudget', { spec })).toEqual([
      'spec: Invalid value: {"MinAvailable":1,"Selector":{},"MaxUnavailable":"50%","UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    ]);
  });
});

describe('wrong labels in an update', () => {
  const count = (apiVersion: string, kind: string, parts: Parts, subresource = ''): number => {
    const metadata = { name: 'a', namespace: 'default', uid: UID, labels: { a: '!' } };
    const found = updated(apiVersion, kind, { ...parts, metadata }, parts, subresource);
    return found.filter((text) => text.startsWith('metadata.labels')).length;
  };

  it.each([
    ['v1', 'ConfigMap', '', 4],
    ['v1', 'Namespace', 'status', 3],
    ['v1', 'Service', '', 3],
    ['v1', 'LimitRange', '', 3],
    ['policy/v1', 'PodDisruptionBudget', '', 2],
  ])('have as many causes as rules look at them: %s %s %s', (apiVersion, kind, subresource, causes) => {
    expect(count(apiVersion, kind, {}, subresource)).toBe(causes);
  });
});
