import type { HttpApiClient } from '../../../src/client/api-client/index.js';
import type { KubernetesObject, ResourceType } from '../../../src/machinery/kubernetes/index.js';
import { Deployment, Namespace, Pod } from '../../../src/machinery/kubernetes/index.js';
import { CronJob, DaemonSet, StatefulSet } from '../../../src/runtime/index.js';
import { waitFor } from '../../../src/testing/wait-for.js';
import { aDeployment } from '../../e2e/support/a-deployment.js';

/** A cluster as an operator meets it: rollouts that are done, on their way, stuck, paused, and at a step; a release; sets that are rolled out by policies; and other kinds. */
export async function furnish(client: HttpApiClient): Promise<void> {
  for (const name of ['shop', 'billing', 'media'])
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const [namespace, name, replicas] of COMPLETE)
    await client.create(
      Deployment,
      recorded(aDeployment({ namespace, name, replicas, image: `${name}:1.4.2` })),
    );
  await client.create(Deployment, canary());
  await client.create(StatefulSet, statefulSet());
  await client.create(StatefulSet, heldStatefulSet());
  await client.create(DaemonSet, heldDaemonSet());
  await client.create(CronJob, cronJob());
  for (const [namespace, name, replicas] of COMPLETE) await available(client, { namespace, name }, replicas);
  await available(client, { namespace: 'shop', name: 'checkout' }, 4);
  await rollOutSets(client);
  await setImage(client, { namespace: 'shop', name: 'checkout' }, 'checkout:2.1.0');
  await setImage(client, { namespace: 'shop', name: 'payments' }, 'payments:1.5.0-missing');
  await client.patch(
    Deployment,
    { namespace: 'media', name: 'thumbnails' },
    merge({ spec: { paused: true } }),
  );
  for (const name of ['checkout', 'search'])
    await client.patch(
      Deployment,
      { namespace: 'shop', name },
      merge({ metadata: { annotations: { 'rollkeeper.dev/release': 'shop-42' } } }),
    );
  await waitFor(async () => await isPulling(client), { what: 'the pods of shop/payments to be stuck' });
}

const COMPLETE: readonly (readonly [namespace: string, name: string, replicas: number])[] = [
  ['shop', 'frontend', 12],
  ['shop', 'payments', 6],
  ['shop', 'search', 8],
  ['billing', 'invoices', 3],
  ['billing', 'ledger', 5],
  ['media', 'thumbnails', 4],
  ['media', 'uploads', 2],
];

/** Moves slowly enough to be looked at. */
export async function rollOut(client: HttpApiClient): Promise<void> {
  const annotations = { 'node.rollkeeper.dev/ready-after': '5s' };
  await client.patch(
    Deployment,
    { namespace: 'shop', name: 'frontend' },
    merge({ spec: { template: { metadata: { annotations }, spec: containersOf('frontend:1.5.0') } } }),
  );
}

/** A pod with a log of its own. */
export const TALKING_POD = { namespace: 'billing', name: 'db-0' };

function recorded(deployment: Deployment): Deployment {
  const annotations = { ...deployment.metadata.annotations, 'rollkeeper.dev/history': '14d' };
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}

function canary(): Deployment {
  const deployment = aDeployment({
    namespace: 'shop',
    name: 'checkout',
    replicas: 4,
    image: 'checkout:2.0.9',
  });
  deployment.metadata.annotations = { 'rollkeeper.dev/steps': '1; approve; 50%; approve' };
  return deployment;
}

function statefulSet(): KubernetesObject {
  const logs = Array.from(
    { length: 30 },
    (_, line) => `2026-01-01T12:00:${String(line).padStart(2, '0')}Z accepted connection ${line}`,
  );
  return {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { namespace: 'billing', name: 'db' } },
    spec: {
      ...{ replicas: 2, serviceName: 'db', selector: { matchLabels: { app: 'db' } } },
      template: {
        metadata: {
          labels: { app: 'db' },
          annotations: { 'node.rollkeeper.dev/logs.db': `${logs.join('\n')}\n` },
        },
        spec: {
          containers: [{ name: 'db', image: 'postgres:17', env: [{ name: 'PASSWORD', value: 'not-shown' }] }],
        },
      },
    },
  } as KubernetesObject;
}

function heldStatefulSet(): KubernetesObject {
  const { metadata, spec } = setParts('orders', '1; approve');
  return {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata },
    spec: { ...spec, replicas: 3, serviceName: 'orders' },
  } as KubernetesObject;
}

function heldDaemonSet(): KubernetesObject {
  return {
    ...{ apiVersion: 'apps/v1', kind: 'DaemonSet' },
    ...setParts('agent', '33%; approve; 66%; approve'),
  };
}

function setParts(name: string, steps: string) {
  const labels = { app: name };
  return {
    metadata: { namespace: 'shop', name, annotations: { 'rollkeeper.dev/steps': steps } },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: containersOf(`${name}:1.0.0`) },
    },
  };
}

/** Changes the sets once their controllers hold them: a change before that is made as without policies. */
async function rollOutSets(client: HttpApiClient): Promise<void> {
  const sets: readonly (readonly [type: ResourceType, name: string])[] = [
    [StatefulSet, 'orders'],
    [DaemonSet, 'agent'],
  ];
  for (const [type, name] of sets) {
    const ref = { namespace: 'shop', name };
    await waitFor(
      async () => {
        const { metadata, status } = await client.get<SetStatus>(type, ref);
        const pods = status?.numberAvailable ?? status?.availableReplicas ?? 0;
        return pods === 3 && metadata.annotations?.['rollkeeper.dev/rollout'] !== undefined;
      },
      { what: `shop/${name} to be held by policies, with all its pods` },
    );
    await client.patch(type, ref, merge({ spec: { template: { spec: containersOf(`${name}:1.1.0`) } } }));
  }
}

/** The two kinds of sets count their available pods under different names. */
interface SetStatus extends KubernetesObject {
  readonly status?: { readonly availableReplicas?: number; readonly numberAvailable?: number };
}

function cronJob(): KubernetesObject {
  const container = { name: 'report', image: 'report:3' };
  return {
    ...{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { namespace: 'billing', name: 'report' } },
    spec: {
      schedule: '0 4 * * *',
      jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } } },
    },
  } as KubernetesObject;
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

async function available(client: HttpApiClient, ref: Named, replicas: number): Promise<void> {
  await waitFor(
    async () => {
      const { status } = await client.get<Deployment>(Deployment, ref);
      return (status?.availableReplicas ?? 0) === replicas;
    },
    { what: `${ref.namespace}/${ref.name} to be available` },
  );
}

async function setImage(client: HttpApiClient, ref: Named, image: string): Promise<void> {
  await client.patch(Deployment, ref, merge({ spec: { template: { spec: containersOf(image) } } }));
}

function containersOf(image: string): object {
  return { containers: [{ name: 'web', image }] };
}

function merge(body: object) {
  return { type: 'strategic', body } as const;
}

async function isPulling(client: HttpApiClient): Promise<boolean> {
  const { items } = await client.list<KubernetesObject & { readonly status?: object }>(Pod, {
    namespace: 'shop',
  });
  return items.some(({ status }) => JSON.stringify(status ?? {}).includes('ImagePullBackOff'));
}
