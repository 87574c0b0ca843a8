import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deployment, Pod } from '../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { CHART, helm, helmEnv } from '../unit/support/helm.js';
import { web } from '../integration/support/managed-cluster.js';

const run = promisify(execFile);
/** Generous, because a machine may be busy: nothing here waits for so long. */
const PATIENT = { timeoutMs: 120_000 };
const DEPLOYMENT = 'ops/deployment/rk-rollkeeper';

/** The one value that the chart cannot choose. */
const REDIS = ['--set', 'redis.url=redis://redis:6379'];

describe.skipIf(!helm)('the life of the chart on a cluster, with real Helm', { timeout: 180_000 }, () => {
  let cluster: TestCluster;
  let home: string;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'rollkeeper-helm-'));
    cluster = await startTestCluster();
  });
  afterAll(async () => {
    await cluster.stop();
    rmSync(home, { recursive: true });
  });

  const helmDoes = async (command: string, ...args: string[]): Promise<string> => {
    const env = { ...helmEnv(home), KUBECONFIG: cluster.kubeconfig.path };
    return (await run(helm ?? 'helm', [command, 'rk', ...args, '--namespace', 'ops'], { env })).stdout;
  };
  /** How a node is to end the pod of `helm test`; the program's own part of it is in the tests of `healthcheck`. */
  const testEnds = (exitCode: 0 | 1): string[] => [
    '--set-string',
    `test.podAnnotations.node\\.rollkeeper\\.dev/exit-code=${exitCode}`,
  ];
  /** The arguments of the controller in each of the chart's pods, once all of them are ready and no others are left. */
  const settled = async (): Promise<string[][]> => {
    const deployment = await cluster.waitFor<Deployment>(DEPLOYMENT, 'rollout', PATIENT);
    const pods = await cluster.list<Pod>('pods', { namespace: 'ops' });
    const replicas = pods.filter(({ metadata }) => metadata.ownerReferences !== undefined);
    const alive = replicas.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    expect(alive).toHaveLength(deployment?.spec.replicas ?? 0);
    return alive.map(({ spec }) => [...(spec.containers[0]?.args ?? [])]);
  };

  it('installed, upgraded and rolled back, its Deployment has the pods that were asked for', async () => {
    await helmDoes('install', CHART, '--create-namespace', ...REDIS, ...testEnds(0));
    const first = await settled();
    expect(first).toHaveLength(3);
    expect(await helmDoes('test')).toMatch(/Phase:\s+Succeeded/);
    await helmDoes('upgrade', CHART, ...REDIS, '--set', 'replicaCount=2,logLevel=debug', ...testEnds(1));
    const second = await settled();
    expect(second).toHaveLength(2);
    for (const args of second) expect(args).toContain('--log-level=debug');
    await expect(helmDoes('test')).rejects.toThrow(/pod rk-rollkeeper-test failed/);
    // It stays for those who look into its log.
    await cluster.delete('ops/pod/rk-rollkeeper-test');
    await helmDoes('rollback', '1');
    expect(await settled()).toEqual(first);
    expect(await helmDoes('history')).toMatch(/3\s.*deployed.*Rollback to 1/);
  });

  it('uninstalled, it leaves nothing behind', async () => {
    await helmDoes('uninstall');
    await cluster.waitFor(DEPLOYMENT, 'delete', PATIENT);
    await cluster.settled(PATIENT);
    const kinds = ['pods', 'replicasets', 'services', 'secrets', 'serviceaccounts', 'poddisruptionbudgets'];
    const left = await Promise.all(kinds.map((kind) => cluster.list(kind, { namespace: 'ops' })));
    // The account of every namespace.
    const names = left.flat().map(({ metadata }) => metadata.name);
    expect(names.filter((name) => name !== 'default')).toEqual([]);
  });

  it('installed for rollkeeper.dev, it leaves the definition and what is of that kind when it goes', async () => {
    const values = [
      ...REDIS,
      '--set',
      'deployments.api=rollkeeper.dev/v1,controllers=deployment,replicaCount=0',
    ];
    expect(await helmDoes('install', CHART, ...values)).toContain('rollkeeper convert deployment');
    await cluster.apply(web({ spec: { replicas: 0 } }));
    await helmDoes('uninstall');
    expect(await cluster.get('deployments.rollkeeper.dev/web')).toBeDefined();
    await helmDoes('install', CHART, ...values);
    expect(await cluster.get('deployments.rollkeeper.dev/web'), 'taken over').toBeDefined();
  });
});
