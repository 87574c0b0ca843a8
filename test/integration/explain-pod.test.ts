import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainPod } from '../../src/rollkeeper/insight/explain-pod/explain-pod.js';
import { renderPlacement } from '../../src/rollkeeper/insight/explain-pod/render-placement.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';

let cluster: TestCluster;

const role = (kind: 'Role' | 'ClusterRole', name: string, resources: readonly string[]) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind,
  metadata: { name, ...(kind === 'Role' && { namespace: 'default' }) },
  rules: [{ apiGroups: [''], resources, verbs: ['get', 'list'] }],
});
const binding = (kind: 'Role' | 'ClusterRole', name: string, user: string) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: `${kind}Binding`,
  metadata: { name: `${name}-${user}`, ...(kind === 'Role' && { namespace: 'default' }) },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
  subjects: [{ kind: 'User', name: user }],
});
const pod = (name: string, cpu: string, namespace = 'default') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace },
  spec: { containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu } } }] },
});

beforeAll(async () => {
  cluster = await startTestCluster({
    controllers: [],
    nodes: { nodes: 1, cpus: 4 },
    users: ['of-one-namespace', 'who-sees-nodes'],
  });
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'others' } });
  for (const object of [
    role('Role', 'pods', ['pods']),
    role('ClusterRole', 'nodes', ['nodes']),
    binding('Role', 'pods', 'of-one-namespace'),
    binding('Role', 'pods', 'who-sees-nodes'),
    binding('ClusterRole', 'nodes', 'who-sees-nodes'),
    pod('full', '3', 'others'),
  ])
    await cluster.apply(object);
  await cluster.settled();
  await cluster.apply(pod('waits', '2'));
  await cluster.settled();
});
afterAll(() => cluster.stop());

const WAITS = { namespace: 'default', name: 'waits' };

describe('why a pod is on no node', () => {
  it('is told to the administrator by node and plug-in, with what would help', async () => {
    const explained = await explainPod(cluster.client, WAITS, {});
    expect(renderPlacement(explained)).toBe(
      [
        'Pod default/waits: None of 1 node can take it.',
        '  node-0:',
        '    NodeResourcesFit: Insufficient cpu',
        '      would help: 1000m more cpu free (it asks for 2000m, 1000m are left)',
        '  The scheduler says: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
      ].join('\n'),
    );
  });

  it('is what the scheduler last said, to a user who may not list nodes', async () => {
    const explained = await explainPod((await cluster.user('of-one-namespace')).client, WAITS, {});
    expect(explained).toMatchObject({ state: 'refused', nodes: [] });
    expect(explained.summary).toContain('You may not list nodes');
    expect(explained.message).toContain('1 Insufficient cpu');
  });

  it('says that pods of other namespaces are not seen, to a user who may not list them', async () => {
    const explained = await explainPod((await cluster.user('who-sees-nodes')).client, WAITS, {});
    expect(explained.notes[0]).toContain('You may not list the pods of other namespaces');
    expect(explained.state).toBe('waits');
  });

  it('is refused to a user who may not read the pod', async () => {
    const others = { namespace: 'others', name: 'full' };
    await expect(explainPod((await cluster.user('of-one-namespace')).client, others, {})).rejects.toThrow(
      'forbidden',
    );
  });
});
