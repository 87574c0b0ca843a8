import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { aDeployment } from './support/a-deployment.js';
import { runBuilt } from './support/commands-of-a-cluster.js';
import { SharedUp } from './support/shared-up.js';

const namespace = 'kubeconfig-alone';
const WEB = `${namespace}/web`;

/** Every command that reads the cluster, and what it prints of it. */
const READS: readonly (readonly [args: readonly string[], says: RegExp])[] = [
  [
    ['doctor', '--dry-run-namespace', namespace],
    /^ok +api .*answers[\s\S]*^skipped +replicas .*no replica is known/m,
  ],
  [['explain', `deployment/web`, '-n', namespace], /^Deployment kubeconfig-alone\/web/],
  [['explain', 'namespace', namespace], /^Namespace kubeconfig-alone/],
  [['problems', '-n', namespace], /objects? /],
  [['top', '--once', '-n', namespace], /1 Deployment[,:] /],
  [['plan', '-f', 'web.json', '--against', 'live'], /step|nothing|pods/i],
  [['rollout', 'status', WEB, '--watch=false'], /web/],
  [['rollout', 'history', WEB], /REVISION|revision/],
  [['diff', WEB, '1'], /nothing differs|deployment/],
  [['timeline', WEB], /./],
];

describe('a command in a folder without a run of `up`, with KUBECONFIG or --kubeconfig alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-e2e-'));
  let up: SharedUp;
  let client: HttpApiClient;

  beforeAll(async () => {
    up = await SharedUp.take('ordinary');
    client = await up.client();
    await up.createNamespace(client, namespace);
    const deployment = aDeployment({ name: 'web', namespace });
    writeFileSync(join(folder, 'web.json'), JSON.stringify(deployment));
    await client.create(Deployment, deployment);
  });

  afterAll(async () => {
    await client?.close();
    await up.give();
    rmSync(folder, { recursive: true });
  });

  it.each(READS)('%j reads the cluster', async (args, says) => {
    const byName = await runBuilt([...args, '--kubeconfig', up.kubeconfig], folder, { PATH: '' });
    const byEnvironment = await runBuilt(args, folder, { PATH: '', KUBECONFIG: up.kubeconfig });
    for (const { status, stderr, stdout } of [byName, byEnvironment]) {
      expect(stderr).not.toMatch(/^rollkeeper: |^ {4}at /m);
      expect(stdout).toMatch(says);
      expect(status).not.toBe(1);
    }
  });
});
