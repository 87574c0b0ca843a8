import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest';
import type { ControllerManager } from '../../src/runtime/index.js';
import {
  ConfigMap,
  Namespace,
  Pod,
  createManager,
  defineController,
  isAlreadyExists,
  silentLogger,
  unlessGone,
} from '../../src/runtime/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import type { WebhookServer } from './support/webhook-server.js';
import { startWebhookServer } from './support/webhook-server.js';

const LEVEL = 'pod-security.kubernetes.io/enforce';

/** Makes a pod for each ConfigMap `wanted`. The first retry is an hour away: only a change of what refuses wakes it sooner. */
const podMaker = defineController({
  ...{ name: 'pod-maker', for: ConfigMap },
  queueing: { backoffBaseMs: 3_600_000, backoffMaxMs: 3_600_000 },
  async reconcile({ name, namespace }, { client, object }) {
    if (name !== 'wanted' || !object) return;
    const { priorityClassName } = object.data ?? {};
    const pod = {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'made', namespace } },
      spec: { priorityClassName, containers: [{ name: 'c', image: 'nginx' }] },
    };
    await client.create<Pod>(Pod, pod).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  },
});

let cluster: TestCluster;
let manager: ControllerManager;
let running: Promise<void>;
const stopper = new AbortController();

beforeAll(async () => {
  cluster = await startTestCluster({ controllers: 'serviceaccount', nodes: 0 });
  manager = await createManager({
    ...{
      name: 'pod-maker',
      kubeconfig: cluster.kubeconfig.path,
      logger: silentLogger,
      coordination: 'local',
    },
  });
  running = manager.add(podMaker).run(stopper.signal);
});
afterAll(async () => {
  stopper.abort();
  await running;
  await cluster.stop();
});

const namespaceNamed = (name: string, labels: Record<string, string> = {}) =>
  cluster.client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
const want = (namespace: string, data: Record<string, string> = {}) =>
  cluster.client.create(ConfigMap, {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', data },
    metadata: { namespace, name: 'wanted' },
  });
const refusedIn = (namespace: string) =>
  waitFor(
    async () => {
      const view = await manager.controllers[0]!.queue.inspectKey(`${namespace}/wanted`);
      return view.failures > 0 && !view.hasJob;
    },
    { what: 'a refusal' },
  );
const podIn = (namespace: string) =>
  waitFor(() => unlessGone(cluster.client.get<Pod>(Pod, { namespace, name: 'made' })), { what: 'the pod' });

it('are tried again as soon as the label of the namespace that refused them is gone', async () => {
  await namespaceNamed('strict', { [LEVEL]: 'restricted' });
  await want('strict');
  await refusedIn('strict');
  await cluster.client.patch(
    Namespace,
    { name: 'strict' },
    { type: 'merge', body: { metadata: { labels: { [LEVEL]: null } } } },
  );
  await podIn('strict');
});

it('are tried again as soon as the class exists that was missing', async () => {
  await namespaceNamed('classy');
  await want('classy', { priorityClassName: 'gold' });
  await refusedIn('classy');
  await cluster.apply({
    ...{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'gold' }, value: 7 },
  });
  await podIn('classy');
});

it('are tried again as soon as the policy that refused them lets them pass', async () => {
  await cluster.apply({
    ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy' },
    metadata: { name: 'no-pods' },
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
        ],
      },
      validations: [{ expression: 'false', message: 'no pods here' }],
    },
  });
  await cluster.apply({
    ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicyBinding' },
    metadata: { name: 'no-pods' },
    spec: {
      policyName: 'no-pods',
      validationActions: ['Deny'],
      matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'closed' } } },
    },
  });
  await namespaceNamed('closed');
  await want('closed');
  await refusedIn('closed');
  await cluster.delete('validatingadmissionpolicybinding/no-pods');
  await podIn('closed');
});

describe('by a webhook', () => {
  let webhook: WebhookServer;
  const configuration = 'validatingwebhookconfiguration/check-pods';
  const selected = { matchLabels: { checked: 'yes' } };

  /** For pods in namespaces with a label. @param fields in place of those */
  const check = (fields: object = {}) =>
    cluster.apply({
      ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' },
      metadata: { name: 'check-pods' },
      webhooks: [
        {
          ...{ name: 'check.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'] },
          clientConfig: { url: `https://${webhook.address}/check`, caBundle: webhook.caBundle },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
          namespaceSelector: selected,
          ...fields,
        },
      ],
    });

  beforeAll(async () => {
    webhook = await startWebhookServer([], (review) => ({
      text: JSON.stringify({
        ...{ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' },
        response: { uid: (review['request'] as { uid: string }).uid, allowed: false },
      }),
    }));
  });
  beforeEach(() => check());
  afterAll(() => webhook.stop());

  const refusedByIt = async (namespace: string): Promise<void> => {
    await namespaceNamed(namespace, { checked: 'yes' });
    await want(namespace);
    await refusedIn(namespace);
  };

  it.each<[string, string, () => Promise<unknown>]>([
    ['its configuration is gone', 'deleted', () => cluster.delete(configuration)],
    [
      'it no longer selects the namespace',
      'unselected',
      () => check({ namespaceSelector: { matchLabels: { checked: 'other' } } }),
    ],
    [
      'it no longer selects the object',
      'unlabelled',
      () => check({ objectSelector: { matchLabels: { checked: 'yes' } } }),
    ],
    [
      'the namespace has lost the label that it selects',
      'released',
      () =>
        cluster.client.patch(
          Namespace,
          { name: 'released' },
          { type: 'merge', body: { metadata: { labels: { checked: null } } } },
        ),
    ],
  ])('are tried again as soon as %s', async (_what, namespace, end) => {
    await refusedByIt(namespace);
    await end();
    await podIn(namespace);
  });
});
