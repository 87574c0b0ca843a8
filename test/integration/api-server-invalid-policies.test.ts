import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { policyChecks } from '../../src/rollkeeper/cli/policy-checks.js';
import { aDeployment, startApiServer } from './api-server-harness.js';
import type { RunningApiServer } from './api-server-harness.js';
import { helm, render } from '../unit/support/helm.js';

const TYPO = 'rollkeeper.dev/bake-tme';
const MEANT = `metadata.annotations[${TYPO}]: Invalid value: "10m": is under a name that is not known; did you mean rollkeeper.dev/bake-time?`;
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

let server: RunningApiServer | undefined;
afterEach(() => server?.stop());

async function start(action: 'warn' | 'refuse'): Promise<RunningApiServer> {
  server = await startApiServer({ tls: true, checks: policyChecks(action) });
  return server;
}

function annotated(name: string, annotations: Record<string, string>) {
  const deployment = aDeployment(name);
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}

function kubectl(
  { dir, kubeconfig }: RunningApiServer,
  ...args: string[]
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: dir };
  return new Promise((resolve) => {
    execFile(process.env['KUBECTL'] ?? 'kubectl', args, { env, timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
    });
  });
}

describe('an API server that warns of invalid rollout policies', () => {
  it('says so in the answer to each kind of write, and stores it', async () => {
    const api = await start('warn');
    const body = annotated('web', { [TYPO]: '10m' });
    const warnings = [
      await api.call('POST', DEPLOYMENTS, body),
      await api.call('PUT', `${DEPLOYMENTS}/web`, body),
      await api.call('PATCH', `${DEPLOYMENTS}/web`, { spec: { replicas: 2 } }, MERGE),
      await api.call('PATCH', `${DEPLOYMENTS}/web?fieldManager=t&force=true`, body, APPLY),
      await api.call('POST', `${DEPLOYMENTS}?dryRun=All`, {
        ...body,
        metadata: { ...body.metadata, name: 'dry' },
      }),
    ].map(({ headers, status }) => `${status} ${headers.get('warning')}`);
    const warning = `299 - "${MEANT}; no new version begins until this is corrected"`.replaceAll(
      '"10m"',
      String.raw`\"10m\"`,
    );
    expect(warnings).toEqual([201, 200, 200, 200, 201].map((status) => `${status} ${warning}`));
  });

  it('says so of a Namespace, and of a Deployment in it', async () => {
    const api = await start('warn');
    const metadata = { name: 'shop', annotations: { 'rollkeeper.dev/steps': '20%%' } };
    const namespace = await api.call('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata,
    });
    expect(namespace.headers.get('warning')).toContain('metadata.annotations[rollkeeper.dev/steps]: Invalid');
    const deployment = await api.call(
      'POST',
      '/apis/apps/v1/namespaces/shop/deployments',
      aDeployment('web'),
    );
    expect(deployment.headers.get('warning')).toContain('[rollkeeper.dev/steps] of the Namespace: Invalid');
  });

  it('says nothing of policies that are valid', async () => {
    const api = await start('warn');
    const created = await api.call(
      'POST',
      DEPLOYMENTS,
      annotated('web', { 'rollkeeper.dev/bake-time': '10m' }),
    );
    expect(created).toMatchObject({ status: 201 });
    expect(created.headers.get('warning')).toBeNull();
  });
});

describe('an API server that refuses invalid rollout policies', () => {
  it('answers 422 with the field, and goes on to take writes of what was stored before', async () => {
    const api = await start('refuse');
    const refused = await api.call('POST', DEPLOYMENTS, annotated('web', { [TYPO]: '10m' }));
    expect(refused).toMatchObject({
      status: 422,
      body: {
        reason: 'Invalid',
        message: `Deployment.apps "web" is invalid: ${MEANT}`,
        details: { causes: [{ reason: 'FieldValueInvalid', field: `metadata.annotations[${TYPO}]` }] },
      },
    });
    const metadata = { name: 'shop', annotations: { 'rollkeeper.dev/fail-after': 'soon' } };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata };
    expect(await api.call('POST', '/api/v1/namespaces', namespace)).toMatchObject({ status: 422 });
    expect(await api.call('POST', DEPLOYMENTS, aDeployment('web'))).toMatchObject({ status: 201 });
    const typed = { metadata: { annotations: { [TYPO]: '10m' } } };
    expect(await api.call('PATCH', `${DEPLOYMENTS}/web`, typed, MERGE)).toMatchObject({ status: 422 });
  });

  it('is visible to kubectl, as a warning is', async () => {
    const warning = await start('warn');
    const file = join(warning.dir, 'web.yaml');
    await writeFile(file, JSON.stringify(annotated('web', { [TYPO]: '10m' })));
    const applied = await kubectl(warning, 'apply', '-f', file);
    expect(applied).toMatchObject({ code: 0, stdout: 'deployment.apps/web created\n' });
    expect(applied.stderr).toBe(`Warning: ${MEANT}; no new version begins until this is corrected\n`);
    await warning.stop();

    const refusing = await start('refuse');
    const again = join(refusing.dir, 'web.yaml');
    await writeFile(again, JSON.stringify(annotated('web', { [TYPO]: '10m' })));
    const refused = await kubectl(refusing, 'apply', '-f', again);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`is invalid: ${MEANT}`);
  });
});

describe.skipIf(!helm)('the admission policy of the chart', () => {
  const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';

  async function install(action: 'Warn' | 'Deny'): Promise<RunningApiServer> {
    server = await startApiServer();
    const values = { redis: { url: 'redis://redis' }, policyAdmission: { enabled: true, action } };
    const objects = render(values).filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy'));
    expect(objects.map(({ kind }) => kind)).toHaveLength(2);
    for (const object of objects) {
      const path = object.kind.endsWith('Binding') ? POLICIES.replace(/ies$/, 'ybindings') : POLICIES;
      expect(await server.call('POST', path, object)).toMatchObject({ status: 201 });
    }
    return server;
  }

  it('refuses unknown names and wrong values of Deployments, and wrong values of Namespaces', async () => {
    const api = await install('Deny');
    const namespace = (annotations: Record<string, string>) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: `n${Object.keys(annotations).join('').length}`, annotations },
    });
    const answers = [
      await api.call('POST', DEPLOYMENTS, annotated('a', { [TYPO]: '10m' })),
      await api.call('POST', DEPLOYMENTS, annotated('b', { 'rollkeeper.dev/bake-time': 'soon' })),
      await api.call('POST', '/api/v1/namespaces', namespace({ 'rollkeeper.dev/strategy': 'green' })),
      await api.call('POST', '/api/v1/namespaces', namespace({ 'rollkeeper.dev/of-another': 'x' })),
      await api.call(
        'POST',
        DEPLOYMENTS,
        annotated('c', { 'rollkeeper.dev/bake-time': ' 1h30m ', other: 'x' }),
      ),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 201, 201]);
    expect(answers.slice(0, 3).map(({ body }) => String(body.message).split('denied request: ')[1])).toEqual([
      `no rollout policy has the annotation ${TYPO}`,
      'the annotation has a value that is not valid: rollkeeper.dev/bake-time=soon',
      'the annotation has a value that is not valid: rollkeeper.dev/strategy=green',
    ]);
  });

  it('warns of what a write adds, and of nothing that was there before', async () => {
    const api = await install('Warn');
    const created = await api.call('POST', DEPLOYMENTS, annotated('web', { [TYPO]: '10m' }));
    expect(created).toMatchObject({ status: 201 });
    expect(created.headers.get('warning')).toContain(`no rollout policy has the annotation ${TYPO}`);
    const scaled = await api.call('PATCH', `${DEPLOYMENTS}/web`, { spec: { replicas: 2 } }, MERGE);
    expect(scaled.headers.get('warning')).toBeNull();
  });
});
