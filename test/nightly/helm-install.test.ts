import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Values } from '../unit/support/helm.js';
import { CHART, helm, helmEnv, render, withRedis } from '../unit/support/helm.js';
import { startApiServer } from '../integration/api-server-harness.js';
import type { Deployment, Secret } from '../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

describe.skipIf(!helm)('the chart, installed and upgraded', () => {
  let cluster: TestCluster;
  let home: string;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'rollkeeper-helm-'));
    const manifests = ['ops', 'x'].map((name) => ({
      ...{ apiVersion: 'v1', kind: 'Namespace' },
      metadata: { name },
    }));
    cluster = await startTestCluster({ controllers: [], nodes: 0, manifests });
  });

  afterAll(async () => {
    await cluster.stop();
    rmSync(home, { recursive: true });
  });

  /** Answers what helm prints. */
  const run = (command: 'install' | 'upgrade', values: Values = {}): Promise<string> => {
    const args = [command, 'rk', CHART, '--namespace', 'ops', '--values', '-'];
    const env = { ...helmEnv(home), KUBECONFIG: cluster.kubeconfig.path };
    return new Promise((resolve, reject) => {
      const child = execFile(helm ?? 'helm', args, { env }, (error, stdout, stderr) => {
        if (error) reject(new Error(`helm ${command}: ${stderr}`));
        else resolve(stdout);
      });
      child.stdin?.end(stringify(withRedis(values)));
    });
  };
  const deployed = (): Promise<Deployment | undefined> =>
    cluster.get<Deployment>('ops/deployment/rk-rollkeeper');
  const token = async (): Promise<string | undefined> =>
    (await cluster.get<Secret>('ops/secret/rk-rollkeeper-admin-token'))?.data?.['token'];

  it('makes a token once, and keeps it from then on', async () => {
    await run('install');
    const first = await token();
    expect(Buffer.from(first ?? '', 'base64').toString()).toMatch(/^[A-Za-z0-9]{43}$/);
    await run('upgrade');
    expect(await token()).toBe(first);
    await run('upgrade', { replicaCount: 5 });
    expect(await token()).toBe(first);
    expect((await deployed())?.spec.replicas).toBe(5);
  });

  it('lets no replicas of two scopes work side by side', async () => {
    const strategy = async (): Promise<unknown> => (await deployed())?.spec.strategy;
    const recreate = { type: 'Recreate' };
    const usual = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } };
    const nobodyLeft = 'run one replica from outside of the cluster';
    expect(await run('upgrade', { selector: 'shard=a' })).toContain(nobodyLeft);
    expect(await strategy()).toEqual(recreate);
    expect(await run('upgrade', { selector: 'shard=a', logLevel: 'debug' })).not.toContain(nobodyLeft);
    expect(await strategy(), 'the scope is the same').toEqual(usual);
    await run('upgrade', { namespaces: ['x'] });
    expect(await strategy()).toEqual(recreate);
    await run('upgrade', { namespaces: ['x', 'x'] });
    expect(await strategy()).toEqual(usual);
    // Without any value Helm would take those of the last time.
    await run('upgrade', { logLevel: 'info' });
    expect(await strategy()).toEqual(recreate);
    await run('upgrade', { logLevel: 'info' });
    expect(await strategy()).toEqual(usual);
  });

  it('says how to look, and where the token is', async () => {
    const notes = await run('upgrade');
    expect(notes).toContain('kubectl -n ops port-forward deployment/rk-rollkeeper 8080');
    expect(notes).toContain("get secret rk-rollkeeper-admin-token -o jsonpath='{.data.token}'");
    expect(notes).not.toContain('nonResourceURLs');
    const others = {
      admin: { existingSecret: 'theirs', existingSecretKey: 'admin.token', auth: 'delegated' },
    };
    const delegated = await run('upgrade', others);
    expect(delegated).toContain("get secret theirs -o jsonpath='{.data.admin\\.token}'");
    expect(delegated).toContain('nonResourceURLs');
  });

  it('points out a password in sight, a single replica, and whom the network policy keeps out', async () => {
    const theirToken = { admin: { existingSecret: 'theirs' } };
    const warnings = [
      'password in redis.url',
      'no other replica takes over when a node fails',
      'lets in the replicas alone',
    ];
    const notes = await run('upgrade', {
      redis: { url: 'redis://user:secret@redis' },
      replicaCount: 0,
      networkPolicy: { enabled: true },
      ...theirToken,
    });
    expect(notes).toContain('run one replica from outside of the cluster');
    for (const warning of warnings) expect(notes).toContain(warning);
    const quiet = await run('upgrade', { redis: { url: 'redis://user:$(PASSWORD)@redis' }, ...theirToken });
    for (const warning of warnings) expect(quiet).not.toContain(warning);
  });

  it('lets go of its own token when another Secret is named', async () => {
    expect(await token()).toBeUndefined();
  });
});

describe.skipIf(!helm)('the chart and the kinds that the embedded API server has', () => {
  it('is valid there, to the last field', async () => {
    const server = await startApiServer();
    try {
      const places: Readonly<Record<string, string>> = {
        Deployment: '/apis/apps/v1/namespaces/default/deployments',
        ServiceAccount: '/api/v1/namespaces/default/serviceaccounts',
      };
      const rendered = [
        {},
        { redis: { existingSecret: 'redis' }, otlp: { endpoint: 'http://otel:4318' } },
        {
          podAnnotations: { a: 'b' },
          nodeSelector: { disk: 'ssd' },
          tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
          affinity: { podAntiAffinity: {} },
        },
        {
          ...{ imagePullSecrets: [{ name: 'registry' }], podLabels: { a: 'b' } },
          redis: {
            url: 'rediss://redis?cert=/etc/rollkeeper/redis-tls/tls.crt&key=/etc/rollkeeper/redis-tls/tls.key',
            tls: { existingSecret: 'redis', clientCertificate: true },
          },
          topologySpreadConstraints: [
            { maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' },
          ],
          ...{ extraArgs: ['--recent-traces=5'], extraEnv: [{ name: 'A', value: 'b' }] },
          extraEnvFrom: [{ configMapRef: { name: 'settings' } }],
          extraVolumes: [{ name: 'extra', emptyDir: {} }],
          extraVolumeMounts: [{ name: 'extra', mountPath: '/extra' }],
        },
      ].flatMap((values) => render(values, { namespace: 'default' }));
      const known = rendered.filter(({ kind }) => kind in places);
      expect(known).toHaveLength(8);
      for (const object of known) {
        const path = `${places[object.kind]}?dryRun=All&fieldValidation=Strict`;
        const { body, status } = await server.call('POST', path, object);
        expect({ status, message: body.message as unknown }).toEqual({ status: 201, message: undefined });
      }
    } finally {
      await server.stop();
    }
  });
});
