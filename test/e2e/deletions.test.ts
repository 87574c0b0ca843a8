import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from './support/kubectl.js';
import { SharedUp } from './support/shared-up.js';
import type { Finished } from './support/up.js';

const kubectl = anyKubectl();
const POLICIES = ['foreground', 'orphan', 'background'] as const;

/** What `kubectl delete --wait` has to be through with; it hung for ever where nobody took the finalizer off. */
const SOON_MS = 20_000;

describe.skipIf(!kubectl)('kubectl delete', () => {
  let up: SharedUp;

  beforeAll(async () => {
    up = await SharedUp.take('ordinary');
    await run(['create', 'namespace', 'things']);
  });
  afterAll(() => up.give());

  async function run(args: readonly string[], input?: string): Promise<Finished> {
    const finished = await up.kubectl(kubectl?.binary ?? '', args, input);
    if (finished.code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${finished.stderr}`);
    return finished;
  }

  const apply = (object: object) => run(['apply', '-f', '-'], JSON.stringify(object));
  const exists = async (...args: string[]): Promise<boolean> =>
    (await up.kubectl(kubectl?.binary ?? '', ['get', ...args])).code === 0;
  const uidOf = async (...args: string[]): Promise<string> =>
    (await run(['get', ...args, '-o', 'jsonpath={.metadata.uid}'])).stdout;

  async function deleteIt(args: readonly string[], policy: string): Promise<void> {
    await run(['delete', ...args, `--cascade=${policy}`, `--timeout=${SOON_MS}ms`]);
  }

  const inNamespace = ['-n', 'things'];
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'things', name: 'p' },
    type: 'Normal',
    reason: 'Test',
    message: 'a test',
  };
  const KINDS: readonly { readonly resource: string; readonly object: object; readonly scope: string[] }[] = [
    { resource: 'namespace', object: { apiVersion: 'v1', kind: 'Namespace' }, scope: [] },
    { resource: 'node', object: { apiVersion: 'v1', kind: 'Node' }, scope: [] },
    {
      resource: 'lease',
      object: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
      scope: inNamespace,
    },
    {
      resource: 'serviceaccount',
      object: { apiVersion: 'v1', kind: 'ServiceAccount' },
      scope: inNamespace,
    },
    { resource: 'event', object: event, scope: inNamespace },
  ];
  const cases = KINDS.flatMap((kind) => POLICIES.map((policy) => ({ ...kind, policy })));

  it.each(cases)('lets a $resource go, --cascade=$policy', async ({ object, policy, resource, scope }) => {
    const name = `${resource}-${policy}`;
    const namespace = scope.length > 0 ? 'things' : undefined;
    await apply({ ...object, metadata: { name, namespace } });
    await deleteIt([resource, name, ...scope], policy);
    expect(await exists(resource, name, ...scope)).toBe(false);
  });

  it.each(POLICIES)(
    'treats what a node owns, of whatever kind and in whatever namespace, as --cascade=%s asks',
    async (policy) => {
      const owner = `owner-${policy}`;
      await apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: owner } });
      const reference = { apiVersion: 'v1', kind: 'Node', name: owner, uid: await uidOf('node', owner) };
      const ownerReferences = [{ ...reference, blockOwnerDeletion: true }];
      const dependents = [
        { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'things' },
        { apiVersion: 'v1', kind: 'ServiceAccount', namespace: 'default' },
      ];
      for (const { namespace, ...type } of dependents)
        await apply({ ...type, metadata: { name: `of-${policy}`, namespace, ownerReferences } });
      await deleteIt(['node', owner], policy);
      for (const { kind, namespace } of dependents) {
        const get = [kind.toLowerCase(), `of-${policy}`, '-n', namespace];
        if (policy === 'orphan') {
          const { stdout } = await run(['get', ...get, '-o', 'jsonpath={.metadata.ownerReferences}']);
          expect(stdout.replace('[]', '')).toBe('');
        } else if (policy === 'foreground') expect(await exists(...get)).toBe(false);
        else await waitFor(async () => !(await exists(...get)), { what: `${kind} to go` });
      }
    },
  );

  it('ends a namespace with all that is in it, also what was deleted in the foreground before', async () => {
    await run(['create', 'namespace', 'full']);
    await run(['create', 'deployment', 'web', '--image=nginx', '--replicas=3', '-n', 'full']);
    await run(['rollout', 'status', 'deployment/web', '-n', 'full', '--timeout=60s']);
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
    await apply({
      ...lease,
      metadata: { name: 'held', namespace: 'full', finalizers: ['example.com/hold'] },
    });
    await run(['delete', 'lease', 'held', '-n', 'full', '--cascade=foreground', '--wait=false']);
    await run(['delete', 'namespace', 'full', '--wait=false']);
    await waitFor(
      async () =>
        (await run(['get', 'namespace', 'full', '-o', 'json'])).stdout.includes('example.com/hold in 1'),
      { what: 'the namespace to say what holds it' },
    );
    await run([
      'patch',
      'lease',
      'held',
      '-n',
      'full',
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":[]}}',
    ]);
    await waitFor(async () => !(await exists('namespace', 'full')), {
      what: 'the namespace to go',
    });
  });
});
