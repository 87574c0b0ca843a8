import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { Authorizer } from '../../src/apiserver/access/authorization/index.js';
import type { ResourceAttributes } from '../../src/apiserver/access/authorization/index.js';
import { compileReplicaOptions, runReplica } from '../../src/rollkeeper/replica/index.js';
import type { Deployment, Pod, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import type { ManifestObject, TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { Rendered } from '../unit/support/helm.js';
import { helm, render } from '../unit/support/helm.js';
import { DEFINITION } from '../integration/support/managed-cluster.js';

const ACCOUNT = 'system:serviceaccount:ops:rk-rollkeeper';
/** Rights that a rollout without an accident does not need, and when they are needed. */
const RARELY_USED: Readonly<Record<string, string>> = {
  'get /pods': 'a creation whose answer was lost looks whose pod has the name',
  'get apps/replicasets': 'a creation or a write that somebody else was faster with',
  'list /namespaces': 'servers that stream no initial lists',
  'list /pods': 'servers that stream no initial lists',
  'list /resourcequotas': 'servers that stream no initial lists',
  'list apps/replicasets': 'servers that stream no initial lists',
  'list rollkeeper.dev/deployments': 'servers that stream no initial lists',
  'patch /events': 'an event that happens again',
  'update /namespaces/status': 'a namespace in which something stays',
  'update apps/deployments': 'a rollback that was asked for by annotation',
  'update apps/deployments/finalizers': 'OwnerReferencesPermissionEnforcement, for blockOwnerDeletion',
  'update apps/replicasets/finalizers': 'OwnerReferencesPermissionEnforcement, for blockOwnerDeletion',
  'update rollkeeper.dev/deployments': 'a rollback that was asked for by annotation',
  'update rollkeeper.dev/deployments/finalizers':
    'OwnerReferencesPermissionEnforcement, for blockOwnerDeletion',
};
/** They are watched from the first refusal on, as their changes may end it (src/runtime/controller/obstacles.ts). */
const MAY_END_A_REFUSAL = [
  '/limitranges',
  '/serviceaccounts',
  'admissionregistration.k8s.io/mutatingadmissionpolicies',
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings',
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'admissionregistration.k8s.io/validatingadmissionpolicies',
  'admissionregistration.k8s.io/validatingadmissionpolicybindings',
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'apiextensions.k8s.io/customresourcedefinitions',
  'node.k8s.io/runtimeclasses',
  'scheduling.k8s.io/priorityclasses',
].flatMap((resource) => [`list ${resource}`, `watch ${resource}`]);
/** Roles may end a refusal as well. The chart leaves it to an administrator whether replicas may read them. */
const TRIED_AFTER_A_REFUSAL = /cannot list resource "(?:cluster)?role(?:binding)?s"/;
const PATIENT = { timeoutMs: 120_000 };

interface Installation {
  readonly api: 'apps/v1' | 'rollkeeper.dev/v1';
  readonly web: string;
  /** The controllers that the replica runs, and those that run in the cluster anyway. */
  readonly controllers: string;
  readonly own: readonly string[];
}

const INSTALLATIONS: readonly Installation[] = [
  { api: 'apps/v1', web: 'shop/deployments.apps/web', controllers: '*', own: [] },
  {
    api: 'rollkeeper.dev/v1',
    web: 'shop/deployments.rollkeeper.dev/web',
    controllers: 'deployment',
    own: ['replicaset', 'garbage-collector', 'namespace'],
  },
];

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** `update apps/deployments/status` */
function rightsOf({ apiGroups, resources, verbs }: Rule): string[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
  );
}

function rightOf({ group, resource, subresource, verb }: ResourceAttributes): string {
  return `${verb} ${group}/${resource}${subresource === '' ? '' : `/${subresource}`}`;
}

function web(apiVersion: string, image: string): ManifestObject {
  const labels = { app: 'web' };
  return {
    apiVersion,
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      replicas: 3,
      revisionHistoryLimit: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } },
    },
  };
}

/** Records the requests of the chart's account, and the refusals. */
function recordQuestions() {
  const used = new Set<string>();
  const refused: string[] = [];
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called on its own object below
  const decide = Authorizer.prototype.assertAllowed;
  vi.spyOn(Authorizer.prototype, 'assertAllowed').mockImplementation(function (
    this: Authorizer,
    user,
    attributes,
  ) {
    if (user.username === ACCOUNT && attributes.path === undefined) used.add(rightOf(attributes));
    try {
      decide.call(this, user, attributes);
    } catch (error) {
      refused.push((error as Error).message);
      throw error;
    }
  });
  return { used, refused };
}

const withHelm = describe.skipIf(!helm);

withHelm.each(INSTALLATIONS)('a replica for $api with the rights that the chart gives it', (installation) => {
  const { api, controllers, own, web: WEB } = installation;
  const rendered = helm ? render({ controllers, deployments: { api } }) : [];
  const isAccess = ({ kind }: Rendered): boolean => kind === 'ServiceAccount' || /Role(Binding)?$/.test(kind);
  const stop = new AbortController();
  let asked: ReturnType<typeof recordQuestions>;
  let cluster: TestCluster;
  let replica: Promise<void>;

  beforeAll(async () => {
    asked = recordQuestions();
    const namespaces = ['ops', 'shop'].map((name) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    }));
    const access = rendered
      .filter(isAccess)
      .map((object) => (object.kind.startsWith('Cluster') ? object : inNamespace(object)));
    cluster = await startTestCluster({ controllers: own, nodes: 2, manifests: [DEFINITION] });
    await cluster.apply([...namespaces, ...access]);
    const { kubeconfig } = await cluster.user(ACCOUNT);
    const options = compileReplicaOptions({
      kubeconfig: kubeconfig.path,
      'redis-url': inject('redisUrl'),
      'key-prefix': `helm-rbac-${randomUUID()}`,
      identity: 'rk-0',
      controllers,
      'deployment-api': api,
      'log-level': 'error',
    });
    replica = runReplica(options, () => undefined, stop.signal);
    replica.catch(() => undefined);
  }, 60_000);

  afterAll(async () => {
    stop.abort();
    await replica;
    await cluster?.stop();
    vi.restoreAllMocks();
  });

  it('is refused nothing, and has no right that nothing needs', async () => {
    await cluster.apply(web(api, 'web:1'));
    await cluster.waitFor<Deployment>(WEB, 'rollout', PATIENT);
    await cluster.apply(web(api, 'web:2'));
    await cluster.waitFor<Deployment>(WEB, 'rollout', PATIENT);
    // The set of the first version goes, because the history limit is zero.
    const sets = () => cluster.list<ReplicaSet>('replicasets', { namespace: 'shop' });
    await expect.poll(async () => (await sets()).length, { timeout: PATIENT.timeoutMs }).toBe(1);
    // A pod without an owner is adopted, and another one has to go.
    const [set] = await sets();
    const { metadata, spec } = set!.spec.template!;
    const stray = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'stray', namespace: 'shop', labels: metadata?.labels },
    };
    await cluster.apply({ ...stray, spec });
    const isOwned = (
      pod: { metadata: { ownerReferences?: unknown; deletionTimestamp?: unknown } } | undefined,
    ) => !pod || pod.metadata.ownerReferences !== undefined || pod.metadata.deletionTimestamp !== undefined;
    await cluster.waitFor<Pod>('shop/pod/stray', (pod) => isOwned(pod), PATIENT);
    // A set without its Deployment finds it again, and its pods stay when it goes.
    await cluster.delete(WEB, { propagationPolicy: 'Orphan' });
    await cluster.waitFor(WEB, 'delete', PATIENT);
    await cluster.apply(web(api, 'web:2'));
    await cluster.waitFor<Deployment>(WEB, 'rollout', PATIENT);
    await cluster.delete('namespace/shop');
    await cluster.waitFor('namespace/shop', 'delete', PATIENT);

    expect(asked.refused.filter((what) => !TRIED_AFTER_A_REFUSAL.test(what))).toEqual([]);
    const rules = rendered
      .filter(({ kind }) => kind === 'ClusterRole')
      .flatMap(({ rules }) => rules as Rule[]);
    const named = rules.filter(({ resources }) => !resources.includes('*')).flatMap(rightsOf);
    const unused = [...new Set(named)].filter((right) => !asked.used.has(right)).sort();
    expect(unused.filter((right) => !(right in RARELY_USED) && !MAY_END_A_REFUSAL.includes(right))).toEqual(
      [],
    );
  }, 240_000);
});

function inNamespace(object: Rendered): Rendered {
  return { ...object, metadata: { ...object.metadata, namespace: object.metadata.namespace ?? 'ops' } };
}
