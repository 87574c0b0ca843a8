import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubernetesObject, ResourceType } from '../../src/machinery/kubernetes/index.js';
import {
  Deployment,
  Event,
  Lease,
  Namespace,
  Node,
  ServiceAccount,
} from '../../src/machinery/kubernetes/index.js';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { isNotFound } from '../../src/client/api-client/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from './support/a-deployment.js';
import { anyKubectl } from './support/kubectl.js';
import { SharedUp } from './support/shared-up.js';

const kubectl = anyKubectl();
const POLICIES = ['foreground', 'orphan', 'background'] as const;
const namespace = 'things';

/** `kubectl delete --wait` must have ended by then. It hung for ever if the finalizer was not removed. */
const SOON_MS = 20_000;

describe.skipIf(!kubectl)('kubectl delete', () => {
  let up: SharedUp;
  let client: HttpApiClient;

  beforeAll(async () => {
    up = await SharedUp.take('ordinary');
    client = await up.client();
    await up.createNamespace(client, namespace);
  });
  afterAll(async () => {
    await client.close();
    await up.give();
  });

  async function kubectlDelete(...args: string[]): Promise<void> {
    const { code, stderr } = await up.kubectl(kubectl?.binary ?? '', ['delete', ...args]);
    expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
  }

  const create = (type: ResourceType, name: string, fields: object = {}, within = namespace) =>
    client.create<KubernetesObject>(type, {
      apiVersion: type.group === '' ? type.version : `${type.group}/${type.version}`,
      kind: type.kind,
      ...fields,
      metadata: {
        name,
        ...(type.namespaced ? { namespace: within } : {}),
        ...('metadata' in fields ? (fields.metadata as object) : {}),
      },
    });
  const find = (
    type: ResourceType,
    name: string,
    within = namespace,
  ): Promise<KubernetesObject | undefined> =>
    client
      .get(type, { name, ...(type.namespaced ? { namespace: within } : {}) })
      .catch((error: unknown) => (isNotFound(error) ? undefined : Promise.reject(error as Error)));
  const isGone = async (type: ResourceType, name: string, within = namespace): Promise<boolean> =>
    (await find(type, name, within)) === undefined;

  const EVENT = {
    involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name: 'p' },
    type: 'Normal',
    reason: 'Test',
    message: 'a test',
  };
  const KINDS: readonly {
    readonly resource: string;
    readonly type: ResourceType;
    readonly fields?: object;
  }[] = [
    { resource: 'namespace', type: Namespace },
    { resource: 'node', type: Node },
    { resource: 'lease', type: Lease },
    { resource: 'serviceaccount', type: ServiceAccount },
    { resource: 'event', type: Event, fields: EVENT },
  ];
  const cases = KINDS.flatMap((kind) => POLICIES.map((policy) => ({ ...kind, policy })));

  it.each(cases)('lets a $resource go, --cascade=$policy', async ({ fields, policy, resource, type }) => {
    const name = `${resource}-${policy}`;
    await create(type, name, fields);
    await kubectlDelete(resource, name, '-n', namespace, `--cascade=${policy}`, `--timeout=${SOON_MS}ms`);
    expect(await isGone(type, name)).toBe(true);
  });

  it.each(POLICIES)(
    'treats what a node owns, of whatever kind and in whatever namespace, as --cascade=%s asks',
    async (policy) => {
      const owner = `owner-${policy}`;
      const dependent = `of-${policy}`;
      const { metadata } = await create(Node, owner);
      const reference = { apiVersion: 'v1', kind: 'Node', name: owner, uid: metadata.uid };
      const ownerReferences = [{ ...reference, blockOwnerDeletion: true }];
      const dependents = [
        { type: Lease, within: namespace },
        { type: ServiceAccount, within: 'default' },
      ];
      for (const { type, within } of dependents)
        await create(type, dependent, { metadata: { ownerReferences } }, within);
      await kubectlDelete('node', owner, `--cascade=${policy}`, `--timeout=${SOON_MS}ms`);
      for (const { type, within } of dependents) {
        const left = await find(type, dependent, within);
        if (policy === 'orphan') {
          expect(left).toBeDefined();
          expect(left?.metadata.ownerReferences ?? []).toEqual([]);
        } else if (policy === 'foreground') expect(left).toBeUndefined();
        else await waitFor(() => isGone(type, dependent, within), { what: `${type.kind} to go` });
      }
    },
  );

  it('ends a namespace with all that is in it, also what was deleted in the foreground before', async () => {
    const full = await up.createNamespace(client, 'full');
    await client.create(Deployment, aDeployment({ namespace: full, name: 'web', replicas: 3 }));
    const rolledOut = ['rollout', 'status', 'deployment/web', '-n', full, '--timeout=60s'];
    expect((await up.kubectl(kubectl?.binary ?? '', rolledOut)).code).toBe(0);
    await create(Lease, 'held', { metadata: { finalizers: ['example.com/hold'] } }, full);
    await kubectlDelete('lease', 'held', '-n', full, '--cascade=foreground', '--wait=false');
    await kubectlDelete('namespace', full, '--wait=false');
    await waitFor(async () => JSON.stringify(await find(Namespace, full)).includes('example.com/hold in 1'), {
      what: 'the namespace to say what holds it',
    });
    const letGo = { type: 'merge', body: { metadata: { finalizers: [] } } } as const;
    await client.patch(Lease, { namespace: full, name: 'held' }, letGo);
    await waitFor(() => isGone(Namespace, full), { what: 'the namespace to go' });
  });
});
