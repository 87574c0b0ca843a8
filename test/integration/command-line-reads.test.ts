import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { findDeployment } from '../../src/rollkeeper/cli/live-deployment.js';
import { withApi } from '../../src/rollkeeper/cli/with-api.js';
import type { Diagnosis } from '../../src/rollkeeper/cli/doctor/index.js';
import { examine } from '../../src/rollkeeper/cli/doctor/index.js';
import {
  compareRevisions,
  readRelease,
  readTimeline,
  renderRelease,
} from '../../src/rollkeeper/insight/rollout/index.js';
import { readTopFromApi } from '../../src/rollkeeper/cli/top/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';

/** The requests of the command line to a real API, as its administrator and as a user of one namespace. */

const USER = 'of-one-namespace';
const WEB = 'deployment/web';
const clock = new SystemClock();
const signal = new AbortController().signal;
let cluster: TestCluster;
let userKubeconfig: string;

const deployment = (image: string, namespace = 'default') => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'app', image, env: [{ name: 'TOKEN', value: `secret of ${image}` }] }] },
    },
  },
});

beforeAll(async () => {
  cluster = await startTestCluster({ controllers: ['deployment', 'replicaset'], users: [USER] });
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'others' } });
  await cluster.apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'look', namespace: 'default' },
    rules: [{ apiGroups: ['apps'], resources: ['deployments', 'replicasets'], verbs: ['get', 'list'] }],
  });
  await cluster.apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'look', namespace: 'default' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'look' },
    subjects: [{ kind: 'User', name: USER }],
  });
  userKubeconfig = (await cluster.user(USER)).env.KUBECONFIG;
  await cluster.apply(deployment('web:1', 'others'));
  for (const image of ['web:1', 'web:2']) {
    await cluster.apply(deployment(image));
    await cluster.waitFor(WEB, 'rollout');
  }
});
afterAll(() => cluster.stop());

const examined = (
  kubeconfig: string,
  serviceAccount?: { namespace: string; name: string },
): Promise<Diagnosis> =>
  withApi({ kubeconfig }, (client, apiUrl, connection) =>
    examine(
      {
        ...{ client, apiUrl, connection, clock, serviceAccount, tryIn: 'default' },
        controllers: ['deployment', 'replicaset'],
        askAdmin: async () => Promise.reject(new Error('no replica runs')),
      },
      signal,
    ),
  );
const lines = ({ findings }: Diagnosis, check: string): string[] =>
  findings.filter((finding) => finding.check === check).map(({ level, summary }) => `${level}: ${summary}`);

describe('doctor', () => {
  it('finds the API and its clock sound, all rights there, and writes that would be accepted', async () => {
    const diagnosis = await examined(cluster.env.KUBECONFIG);
    expect(lines(diagnosis, 'api')[0]).toMatch(/^ok: .* answers: Kubernetes v1\.36/);
    expect(lines(diagnosis, 'api').join()).not.toContain('certificate');
    expect(lines(diagnosis, 'rights').every((line) => line.startsWith('ok: '))).toBe(true);
    // How long a write takes is the machine's affair.
    const tried = lines(diagnosis, 'webhooks').filter((line) => !/ takes \d+ ms$/.test(line));
    expect(tried[0]).toBe('ok: no webhook sees Deployments, ReplicaSets or pods');
    expect(
      tried.slice(1).every((line) => line.startsWith('ok: a Deployment, ReplicaSet, Pod would be')),
    ).toBe(true);
    expect(lines(diagnosis, 'replicas')).toEqual(['failure: no replica answers: no replica runs']);
    expect(await cluster.get('deployment/rollkeeper-doctor')).toBeUndefined();
  });

  it('names the rights that a service account lacks', async () => {
    const diagnosis = await examined(cluster.env.KUBECONFIG, { namespace: 'default', name: 'default' });
    expect(lines(diagnosis, 'rights')).toHaveLength(3);
    expect(lines(diagnosis, 'rights').join('\n')).toContain(
      'system:serviceaccount:default:default may not: get deployments.apps, update deployments.apps',
    );
  });

  it('tells a user of one namespace what is missing, and what that user may not look at', async () => {
    const diagnosis = await examined(userKubeconfig);
    expect(lines(diagnosis, 'api')[0]).toMatch(/^ok: /);
    expect(lines(diagnosis, 'rights')[0]).toMatch(/^failure: the user of the kubeconfig may not: /);
    expect(lines(diagnosis, 'webhooks').map((line) => line.split(':')[0])).toEqual([
      'skipped',
      'skipped',
      'skipped',
      'skipped',
    ]);
    const asked = await examined(userKubeconfig, { namespace: 'default', name: 'default' });
    expect(lines(asked, 'rights')[0]).toMatch(/^warning: whether .* could not be checked: /);
  });
});

describe('a user of one namespace', () => {
  const asUser = <T>(work: Parameters<typeof withApi<T>>[1]): Promise<T> =>
    withApi({ kubeconfig: userKubeconfig }, work);

  it('sees what moves there, and nothing elsewhere', async () => {
    const options = { nowMs: clock.now(), signal };
    expect(
      await asUser((client) => readTopFromApi(client, { ...options, namespace: 'default' })),
    ).toMatchObject({
      total: 1,
    });
    await expect(asUser((client) => readTopFromApi(client, options))).rejects.toThrow('forbidden');
    await expect(
      asUser((client) => readTopFromApi(client, { ...options, namespace: 'others' })),
    ).rejects.toThrow('forbidden');
  });

  it('sees what differs between revisions, without values that may be secret', async () => {
    const diff = await asUser(async (client) =>
      compareRevisions(
        { client, ...(await findDeployment(client, { namespace: 'default', name: 'web' })) },
        [],
      ),
    );
    expect(diff).toEqual({
      from: 1,
      to: 2,
      changes: [
        { place: 'container app', section: 'image', field: 'image', from: 'web:1', to: 'web:2' },
        {
          place: 'container app',
          section: 'environment',
          field: 'env TOKEN',
          from: '(hidden)',
          to: '(hidden)',
        },
      ],
    });
  });

  it('learns that this API server vouches for names of people', async () => {
    expect(await asUser((client) => client.verifiesNames())).toBe(true);
  });

  it('sees the time line without Events, which that user may not read', async () => {
    const entries = await asUser(async (client) =>
      readTimeline(
        { client, ...(await findDeployment(client, { namespace: 'default', name: 'web' })) },
        { withEvents: true },
      ),
    );
    expect(entries.map(({ kind }) => kind)).toEqual(['created', 'asked', 'asked']);
  });
});

describe('a release', () => {
  it('is shown to the user of one namespace with the Deployments of that namespace alone', async () => {
    for (const namespace of ['default', 'others']) {
      const base = deployment('web:2', namespace);
      const annotations = { 'rollkeeper.dev/release': 'shop-42' };
      await cluster.apply({ ...base, metadata: { ...base.metadata, annotations } });
    }
    await cluster.waitFor(WEB, 'rollout');
    const read = (namespace: string) =>
      withApi({ kubeconfig: userKubeconfig }, (client) =>
        readRelease(client, { release: 'shop-42', namespace, nowMs: clock.now() }),
      );
    const report = await read('default');
    expect(report).toMatchObject({ outcome: 'complete', members: [{ name: 'web', phase: 'complete' }] });
    expect(report && renderRelease(report)).toMatch(/^release shop-42 in namespace default: complete\n/);
    await expect(read('others')).rejects.toThrow(/forbidden/);
  });
});
