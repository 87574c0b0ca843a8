import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../client/api-client/index.js';
import type { WriteOptions } from '../../../client/api-client/index.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import type { KubernetesObject, ResourceType } from '../../../machinery/kubernetes/index.js';
import { Deployment, ValidatingWebhookConfiguration, untyped } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { examine } from './examine.js';
import { controllersFlagIn, statusWritersOf } from './read-api.js';

const NOW = Date.parse('2026-01-01T12:00:00Z');

/** The question of a review. */
interface Asked {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly resourceAttributes: {
    readonly verb: string;
    readonly resource: string;
    readonly namespace?: string;
  };
}

/** Answers reviews, and stores nothing of a dry run. */
class ReviewingCluster extends FakeCluster {
  readonly asked: Asked[] = [];
  isAllowed: (asked: Asked) => boolean = () => true;
  readonly dryRuns: string[] = [];

  async serverInfo() {
    return { version: 'v1.36.0', dateMs: NOW };
  }

  async readiness() {
    return { status: 200, failing: [] as string[] };
  }

  as() {
    return this;
  }

  async close(): Promise<void> {}

  override async create<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    if (type.resource.endsWith('reviews')) {
      const { spec } = object as unknown as { spec: Asked };
      this.asked.push(spec);
      return { ...object, status: { allowed: this.isAllowed(spec) } };
    }
    if (!options.dryRun) throw new Error(`${type.kind} would be stored`);
    this.dryRuns.push(type.kind);
    return object;
  }
}

const CONFIG = {
  controllers: ['deployment', 'replicaset'],
  'deployment-api': 'apps/v1',
  scope: { namespaces: [] },
};
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/admin/replicas': {
    leader: 'r0',
    epoch: 1,
    store: { name: 'redis', answers: true },
    replicas: ['r0', 'r1'].map((identity) => ({
      ...{
        identity,
        adminUrl: '',
        pid: 1,
        startedAtMs: NOW - 60_000,
        reachable: true,
        leader: identity === 'r0',
      },
      ...{ version: '1', controllers: [], running: [] },
    })),
  },
  '/admin/leadership': { leader: true, leaderIdentity: 'r0', epoch: 1, lock: 'x', transitions: [] },
  '/admin/config': CONFIG,
  '/admin/queues': [{ controller: 'deployment', counts: { waiting: 0, active: 0, delayed: 0, parked: 1 } }],
  '/admin/queues/deployment': { parked: [{ key: 'a/b', error: 'quota', parkedAtMs: 1, retries: 2 }] },
};

function run(
  client: ReviewingCluster,
  changes: {
    answers?: Readonly<Record<string, unknown>>;
    account?: string;
    clock?: FakeClock;
    tryIn?: string;
    withoutReplicas?: boolean;
  } = {},
) {
  const { account, answers = ANSWERS, clock = new FakeClock(NOW), tryIn, withoutReplicas } = changes;
  return examine(
    {
      client,
      apiUrl: 'https://api',
      clock,
      ...(!withoutReplicas && {
        askAdmin: async (path: string) => {
          if (answers[path] === undefined) throw new Error('no replica runs');
          return answers[path] as never;
        },
      }),
      controllers: ['deployment'],
      tryIn,
      serviceAccount: account === undefined ? undefined : { namespace: 'ops', name: account },
    },
    new AbortController().signal,
  );
}

const levelsOf = ({ findings }: Awaited<ReturnType<typeof run>>): Record<string, string> =>
  Object.fromEntries(findings.map(({ check, level }) => [check, level]));

describe('an examination', () => {
  it('asks for the rights of what the replicas say that they run, and for no others', async () => {
    const cluster = new ReviewingCluster();
    const diagnosis = await run(cluster);
    expect(levelsOf(diagnosis)).toMatchObject({ api: 'ok', rights: 'ok', replicas: 'ok', leader: 'ok' });
    expect(cluster.asked.some(({ resourceAttributes }) => resourceAttributes.resource === '*')).toBe(false);
    expect(cluster.asked.every(({ user }) => user === undefined)).toBe(true);
  });

  it('asks about the account that is named, with the groups that it has', async () => {
    const cluster = new ReviewingCluster();
    cluster.isAllowed = ({ resourceAttributes: { resource, verb } }) =>
      verb !== 'delete' || resource !== 'pods';
    const { findings } = await run(cluster, { account: 'rollkeeper' });
    expect(cluster.asked[0]).toMatchObject({
      user: 'system:serviceaccount:ops:rollkeeper',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ops', 'system:authenticated'],
    });
    expect(findings.filter(({ level }) => level === 'failure').map(({ summary }) => summary)).toEqual([
      'system:serviceaccount:ops:rollkeeper may not: delete pods; the controller replicaset needs it',
    ]);
  });

  it('asks in each namespace of an installation that is limited to some', async () => {
    const cluster = new ReviewingCluster();
    const answers = { ...ANSWERS, '/admin/config': { ...CONFIG, scope: { namespaces: ['a', 'b'] } } };
    await run(cluster, { answers });
    const places = new Set(cluster.asked.map(({ resourceAttributes: { namespace } }) => namespace));
    expect([...places]).toEqual(['a', 'b']);
  });

  it('names parked keys with their errors', async () => {
    const { findings } = await run(new ReviewingCluster());
    expect(findings.find(({ check }) => check === 'queues')?.summary).toBe(
      '1 key of deployment is parked: a/b (quota)',
    );
  });

  it('tries writes only where it is asked to, and stores none of them', async () => {
    const cluster = new ReviewingCluster();
    await run(cluster);
    expect(cluster.dryRuns).toEqual([]);
    await run(cluster, { tryIn: 'default' });
    expect(cluster.dryRuns).toEqual(['Deployment', 'ReplicaSet', 'Pod']);
  });

  it('finds the webhook whose service is gone', async () => {
    const cluster = new ReviewingCluster();
    const webhook = {
      name: 'guard.example.com',
      rules: [{ apiGroups: ['*'], resources: ['*'], operations: ['*'] }],
      clientConfig: { service: { namespace: 'guard', name: 'guard' } },
    };
    cluster.seed(untyped(ValidatingWebhookConfiguration), {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'guard' },
      webhooks: [webhook],
    } as KubernetesObject);
    const { findings } = await run(cluster);
    expect(findings.find(({ check }) => check === 'webhooks')?.summary).toContain(
      'there is no Service guard/guard',
    );
  });

  it('goes on where no replica answers, and says where to find one', async () => {
    const diagnosis = await run(new ReviewingCluster(), { answers: {} });
    expect(levelsOf(diagnosis)).toMatchObject({ api: 'ok', replicas: 'failure', leader: 'skipped' });
    expect(diagnosis.findings.find(({ check }) => check === 'replicas')?.remedy).toContain('--admin-url');
  });

  it('skips what replicas know where none is known, as with a kubeconfig alone', async () => {
    const diagnosis = await run(new ReviewingCluster(), { withoutReplicas: true });
    expect(levelsOf(diagnosis)).toMatchObject({ api: 'ok', replicas: 'skipped', queues: 'skipped' });
    expect(diagnosis.result).not.toBe('failure');
  });

  it('reports an API that is not ready, and waits less than a second for each other answer of it', async () => {
    const cluster = new ReviewingCluster();
    cluster.readiness = async () => ({ status: 500, failing: ['etcd'] });
    cluster.list = () => new Promise<never>(() => undefined);
    const clock = new FakeClock(NOW);
    const examined = run(cluster, { clock });
    await clock.advance(0);
    await clock.advance(720);
    await clock.advance(720);
    const { findings } = await examined;
    expect(findings.map(({ summary }) => summary).join('\n')).toMatch(/not ready: these checks fail: etcd/);
    expect(findings.filter(({ summary }) => summary.includes('nothing came for 0.72 s'))).not.toEqual([]);
  });

  it('asks nothing more of an API that does not answer', async () => {
    const cluster = new ReviewingCluster();
    cluster.serverInfo = async () => {
      throw new Error('ECONNREFUSED');
    };
    const diagnosis = await run(cluster, { tryIn: 'default' });
    expect(levelsOf(diagnosis)).toMatchObject({ api: 'failure', rights: 'skipped', rivals: 'skipped' });
    expect([cluster.asked, cluster.dryRuns, cluster.requests]).toEqual([[], [], []]);
  });

  it('says of a user of one namespace what could not be seen, and fails for none of it', async () => {
    const cluster = new ReviewingCluster();
    cluster.isAllowed = () => true;
    cluster.intercept = ({ type, verb }) =>
      new ApiStatusError({ code: 403, reason: 'Forbidden', message: `cannot ${verb} ${type.resource}` });
    const levels = levelsOf(await run(cluster));
    expect(levels).toMatchObject({ webhooks: 'skipped', rivals: 'skipped' });
  });
});

describe('signs of the controllers of Deployments', () => {
  it('is the manager of the status, and when it wrote', () => {
    const deployment = aDeployment();
    const time = '2026-01-01T11:00:00Z';
    deployment.metadata.managedFields = [
      { manager: 'kubectl', time },
      { manager: 'kube-controller-manager', subresource: 'status', time },
      { manager: 'broken', subresource: 'status' },
    ];
    expect(statusWritersOf(deployment)).toEqual([
      { key: 'default/web', manager: 'kube-controller-manager', atMs: Date.parse(time) },
    ]);
  });

  it('is read from a cluster’s objects', async () => {
    const cluster = new ReviewingCluster();
    const deployment = aDeployment();
    deployment.metadata.managedFields = [
      { manager: 'kube-controller-manager', subresource: 'status', time: '2026-01-01T11:59:30Z' },
    ];
    cluster.seed(Deployment, deployment);
    const { findings } = await run(cluster);
    expect(findings.find(({ check }) => check === 'rivals')?.level).toBe('failure');
  });

  it.each([
    [['kube-controller-manager', '--controllers=*,-deployment-controller'], '*,-deployment-controller'],
    [['--controllers', 'a=b'], 'a=b'],
    [['--leader-elect=true'], undefined],
  ])('are the flags of kube-controller-manager: %j', (words, expected) => {
    expect(controllersFlagIn(words)).toBe(expected);
  });
});
