import { describe, expect, it } from 'vitest';
import { CONTROLLERS, controllersElsewhere, forDeploymentApis, selectControllers } from './registry.js';

const KUBE_CONTROLLER_MANAGER_NAMES = `
  serviceaccount-token-controller serviceaccount-token endpoints-controller endpoint endpointslice-controller endpointslice
  endpointslice-mirroring-controller endpointslicemirroring replicationcontroller-controller replicationcontroller
  pod-garbage-collector-controller podgc resourcequota-controller resourcequota namespace-controller namespace
  serviceaccount-controller serviceaccount garbage-collector-controller garbagecollector daemonset-controller daemonset
  job-controller job deployment-controller deployment replicaset-controller replicaset horizontal-pod-autoscaler-controller
  horizontalpodautoscaling disruption-controller disruption statefulset-controller statefulset cronjob-controller cronjob
  certificatesigningrequest-signing-controller csrsigning certificatesigningrequest-approving-controller csrapproving
  certificatesigningrequest-cleaner-controller csrcleaner ttl-controller ttl bootstrap-signer-controller bootstrapsigner
  token-cleaner-controller tokencleaner node-ipam-controller nodeipam node-lifecycle-controller nodelifecycle
  taint-eviction-controller persistentvolume-binder-controller persistentvolume-binder persistentvolume-attach-detach-controller
  attachdetach persistentvolume-expander-controller persistentvolume-expander clusterrole-aggregation-controller
  clusterrole-aggregation persistentvolumeclaim-protection-controller pvc-protection persistentvolume-protection-controller
  pv-protection ttl-after-finished-controller ttl-after-finished root-ca-certificate-publisher-controller root-ca-cert-publisher
  ephemeral-volume-controller ephemeral-volume storageversion-garbage-collector-controller storage-version-gc
  resourceclaim-controller resource-claim-controller legacy-serviceaccount-token-cleaner-controller
  legacy-service-account-token-cleaner validatingadmissionpolicy-status-controller validatingadmissionpolicy-status
  service-cidr-controller storage-version-migrator-controller selinux-warning-controller device-taint-eviction-controller
  kube-apiserver-serving-clustertrustbundle-publisher-controller podcertificaterequest-cleaner-controller
  volumeattributesclass-protection-controller service-lb-controller service node-route-controller route
  cloud-node-lifecycle-controller cloud-node-lifecycle
`
  .trim()
  .split(/\s+/);

const selected = (list: string): string[] => selectControllers(list).map(({ name }) => name);

describe('--controllers', () => {
  it.each([
    { list: '*', names: ['deployment', 'replicaset', 'garbage-collector', 'namespace'] },
    { list: '*,-namespace', names: ['deployment', 'replicaset', 'garbage-collector'] },
    { list: '-namespace,*', names: ['deployment', 'replicaset', 'garbage-collector'] },
    {
      list: '*,disruption',
      names: ['deployment', 'replicaset', 'garbage-collector', 'namespace', 'disruption'],
    },
    { list: 'podgc,nodelifecycle', names: ['node-lifecycle', 'pod-garbage-collector'] },
    { list: 'replicaset, deployment', names: ['deployment', 'replicaset'] },
    { list: 'deployment,-replicaset', names: ['deployment'] },
  ])('$list means $names', ({ list, names }) => {
    expect(selected(list)).toEqual(names);
  });

  it.each([
    { list: 'namespace,-namespace', names: ['namespace'] },
    { list: '*,-namespace,namespace', names: ['deployment', 'replicaset', 'garbage-collector'] },
    { list: '-namespace,namespace,*', names: ['deployment', 'replicaset', 'garbage-collector'] },
    { list: '-namespace-controller,namespace,deployment', names: ['deployment'] },
  ])('takes the first mention of a controller, under any of its names: $list means $names', (example) => {
    expect(selected(example.list)).toEqual(example.names);
  });

  it.each([
    { list: 'deployment-controller', names: ['deployment'] },
    { list: 'replicaset-controller', names: ['replicaset'] },
    { list: 'garbage-collector-controller', names: ['garbage-collector'] },
    { list: 'garbagecollector', names: ['garbage-collector'] },
    { list: 'namespace-controller', names: ['namespace'] },
    { list: '*,-garbagecollector,-namespace-controller', names: ['deployment', 'replicaset'] },
  ])("knows kube-controller-manager's names, old and new: $list means $names", ({ list, names }) => {
    expect(selected(list)).toEqual(names);
  });

  it('means by * all there are, where no other controller manager works beside', () => {
    const all = CONTROLLERS.map(({ name }) => name);
    const standalone = (list: string) =>
      selectControllers(list, { standalone: true }).map(({ name }) => name);
    expect(standalone('*')).toEqual(all);
    expect(standalone('*,-node-lifecycle')).toEqual(all.filter((name) => name !== 'node-lifecycle'));
    expect(standalone('disruption')).toEqual(['disruption']);
  });

  it.each(['replication', '', '*,-replication', '-deployment', '*,,namespace', '-', '-*'])(
    'refuses "%s"',
    (list) => {
      expect(() => selected(list)).toThrow(/^controllers: /);
    },
  );

  it('refuses a name in one short line', () => {
    expect(() => selected('*,-replication-controller')).toThrow(
      /^controllers: "-replication-controller" is no controller; docs\/CONTROLLERS\.md lists them$/,
    );
  });

  it('takes the lists that kubeadm and others give to kube-controller-manager', () => {
    const list = '*,bootstrapsigner,tokencleaner';
    expect(selected(list)).toEqual([...selected('*'), 'bootstrap-signer', 'token-cleaner']);
    expect(controllersElsewhere(list)).toEqual([]);
    expect(controllersElsewhere('*,-resourcequota,storage-version-gc,selinux-warning-controller')).toEqual([
      'selinux-warning-controller',
      'storageversion-garbage-collector-controller',
    ]);
    expect(() => selected('storage-version-gc')).toThrow('leaves no controller');
  });

  // Every name and alias of kube-controller-manager 1.36.
  it.each(KUBE_CONTROLLER_MANAGER_NAMES)('knows %s', (name) => {
    expect(() => selected(`*,${name}`)).not.toThrow();
  });

  it('has no name that two controllers go by', () => {
    const names = CONTROLLERS.flatMap(({ aliases = [], name }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('the controllers of Deployments', () => {
  // One that is not would cache the pods of all namespaces on each replica.
  it('are all in slots, whatever is turned on, but for the turns of rollouts, which no slot allows', () => {
    const all = forDeploymentApis(
      selectControllers('deployment,replicaset'),
      ['apps/v1', 'rollkeeper.dev/v1'],
      {
        ...{ drainSessions: true, evictionRequests: true, experimentServices: true, maxRollouts: 3 },
        ...{ watchAdmission: true, lastingHistory: true, statefulSets: true, daemonSets: true },
      },
    );
    expect(all.length).toBeGreaterThan(10);
    expect(all.filter(({ perNamespace }) => !perNamespace).map(({ name }) => name)).toEqual([
      'rollout-turns',
    ]);
  });
});
