import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { aDeployment, podBody, startApiServer } from './api-server-harness.js';
import type { ApiAnswer, Body, RunningApiServer } from './api-server-harness.js';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const PODS = '/api/v1/namespaces/default/pods';

let server: RunningApiServer;
beforeAll(async () => {
  server = await startApiServer({ tls: true });
});
afterAll(() => server.stop());

function apply(path: string, config: unknown, query: string): Promise<ApiAnswer> {
  const body = typeof config === 'string' ? config : stringify(config);
  return server.call('PATCH', `${path}?${query}`, body, { 'content-type': 'application/apply-patch+yaml' });
}

function config(name: string, spec: Record<string, unknown> = {}): Body {
  return aDeployment(name, spec);
}

function entry(object: Body, manager: string, operation = 'Apply'): Body {
  return object.metadata.managedFields?.find(
    (one: Body) => one.manager === manager && one.operation === operation,
  );
}

describe('server-side apply', () => {
  it('makes an object that is not there, and owns what it says', async () => {
    const answer = await apply(`${DEPLOYMENTS}/made`, config('made'), 'fieldManager=me');
    expect(answer.status).toBe(201);
    expect(answer.body.spec.strategy.type).toBe('RollingUpdate');
    expect(answer.body.metadata.managedFields).toHaveLength(1);
    expect(entry(answer.body, 'me').fieldsV1['f:spec']).toEqual({
      'f:replicas': {},
      'f:selector': {},
      'f:template': {
        'f:metadata': { 'f:labels': { 'f:app': {} } },
        'f:spec': {
          'f:containers': { 'k:{"name":"nginx"}': { '.': {}, 'f:image': {}, 'f:name': {} } },
        },
      },
    });
  });

  it('lets another manager set what the server has chosen for a Service', async () => {
    const SERVICES = '/api/v1/namespaces/default/services';
    const web = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { ports: [{ port: 80 }] },
    };
    const made = await server.call('POST', `${SERVICES}?fieldManager=me`, web);
    expect(made.status).toBe(201);
    expect(made.body.spec.ipFamilyPolicy).toBe('SingleStack');
    expect(made.body.status).toEqual({ loadBalancer: {} });
    const mine = entry(made.body, 'me', 'Update').fieldsV1;
    expect(mine).not.toHaveProperty('f:status');
    expect(mine['f:spec']).toHaveProperty('f:type');
    expect(mine['f:spec']).not.toHaveProperty('f:ipFamilyPolicy');
    const policy = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { ipFamilyPolicy: 'PreferDualStack' },
    };
    const applied = await apply(`${SERVICES}/web`, policy, 'fieldManager=net');
    expect(applied.status).toBe(200);
    expect(applied.body.spec.ipFamilyPolicy).toBe('PreferDualStack');
  });

  it('warns of what is valid and doubtful, at the creation and when the spec changes', async () => {
    const ports = [{ name: 'http', containerPort: 80 }];
    const doubtful = config('doubtful', {
      template: {
        metadata: { labels: { app: 'doubtful' } },
        spec: {
          containers: [
            { name: 'a', image: 'a:1', ports },
            { name: 'b', image: 'a:1', ports: [{ name: 'http', containerPort: 81 }] },
          ],
        },
      },
    });
    const warned = ({ headers }: ApiAnswer): string => headers.get('warning') ?? '';
    const made = await server.call('POST', DEPLOYMENTS, doubtful);
    expect(warned(made)).toContain('duplicate port name');
    const merge = { 'content-type': 'application/merge-patch+json' };
    const path = `${DEPLOYMENTS}/doubtful`;
    const labelled = await server.call('PATCH', path, { metadata: { labels: { a: 'b' } } }, merge);
    expect(warned(labelled)).toBe('');
    const scaled = await server.call('PATCH', path, { spec: { replicas: 7 } }, merge);
    expect(warned(scaled)).toContain('duplicate port name');
  });

  it('writes nothing when nothing has changed', async () => {
    const first = await apply(`${DEPLOYMENTS}/same`, config('same'), 'fieldManager=me');
    const again = await apply(`${DEPLOYMENTS}/same`, config('same'), 'fieldManager=me');
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
  });

  it('refuses to change what others own, unless forced', async () => {
    await apply(`${DEPLOYMENTS}/fought`, config('fought'), 'fieldManager=me');
    await server.call(
      'PATCH',
      `${DEPLOYMENTS}/fought?fieldManager=editor`,
      { spec: { replicas: 7 } },
      { 'content-type': 'application/merge-patch+json' },
    );
    const refused = await apply(`${DEPLOYMENTS}/fought`, config('fought'), 'fieldManager=me');
    expect(refused.status).toBe(409);
    expect(refused.body.reason).toBe('Conflict');
    expect(refused.body.message).toMatch(
      /^Apply failed with 1 conflict: conflict with "editor" using apps\/v1: \.spec\.replicas$/,
    );
    expect(refused.body.details.causes[0]).toMatchObject({
      reason: 'FieldManagerConflict',
      field: '.spec.replicas',
    });
    const forced = await apply(`${DEPLOYMENTS}/fought`, config('fought'), 'fieldManager=me&force=true');
    expect(forced.status).toBe(200);
    expect(forced.body.spec.replicas).toBe(3);
    expect(entry(forced.body, 'editor', 'Update')).toBeUndefined();
  });

  it('drops what is no longer applied, down to its default', async () => {
    const paused = config('dropped', { replicas: 5, paused: true });
    await apply(`${DEPLOYMENTS}/dropped`, paused, 'fieldManager=me');
    const { replicas: _replicas, ...spec } = config('dropped').spec;
    const answer = await apply(`${DEPLOYMENTS}/dropped`, { ...config('dropped'), spec }, 'fieldManager=me');
    expect(answer.status).toBe(200);
    expect(answer.body.spec.replicas).toBe(1);
    expect(answer.body.spec.paused).toBeUndefined();
  });

  it('keeps the status and the scale of an object apart from the object', async () => {
    await apply(`${DEPLOYMENTS}/parts`, config('parts'), 'fieldManager=me');
    const status = await apply(
      `${DEPLOYMENTS}/parts/status`,
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'parts' }, status: { replicas: 2 } },
      'fieldManager=reporter',
    );
    expect(status.status).toBe(200);
    expect(status.body.status.replicas).toBe(2);
    expect(entry(status.body, 'reporter')).toMatchObject({
      subresource: 'status',
      fieldsV1: { 'f:status': { 'f:replicas': {} } },
    });
    await server.call('PUT', `${DEPLOYMENTS}/parts/scale?fieldManager=scaler`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'parts', namespace: 'default' },
      spec: { replicas: 9 },
    });
    const { body } = await server.call('GET', `${DEPLOYMENTS}/parts`);
    expect(entry(body, 'scaler', 'Update')).toMatchObject({
      subresource: 'scale',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    });
    expect(entry(body, 'me').fieldsV1['f:spec']['f:replicas']).toBeUndefined();
    const refused = await apply(`${DEPLOYMENTS}/parts`, config('parts'), 'fieldManager=me');
    expect(refused.body.message).toContain('conflict with "scaler" with subresource "scale" using apps/v1');
  });

  it('applies a scale to the replica count alone', async () => {
    await apply(`${DEPLOYMENTS}/scaled`, config('scaled'), 'fieldManager=me');
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'scaled' } };
    const path = `${DEPLOYMENTS}/scaled/scale`;
    const refused = await apply(path, { ...scale, spec: { replicas: 9 } }, 'fieldManager=scaler');
    expect(refused.status).toBe(409);
    expect(refused.body.message).toBe('Apply failed with 1 conflict: conflict with "me": .spec.replicas');
    const query = 'fieldManager=scaler&force=true';
    const taken = await apply(path, { ...scale, spec: { replicas: 9 } }, query);
    expect([taken.status, taken.body.kind, taken.body.spec]).toEqual([200, 'Scale', { replicas: 9 }]);
    expect(taken.body.metadata.managedFields).toBeUndefined();
    const { body } = await server.call('GET', `${DEPLOYMENTS}/scaled`);
    expect(body.spec.replicas).toBe(9);
    expect(entry(body, 'scaler')).toMatchObject({
      ...{ apiVersion: 'apps/v1', subresource: 'scale' },
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    });
    expect(entry(body, 'me').fieldsV1['f:spec']['f:replicas']).toBeUndefined();
    expect(entry(body, 'me').fieldsV1['f:spec']['f:template']).toBeDefined();
  });

  it('refuses to apply a scale that is none, or of another object', async () => {
    await apply(`${DEPLOYMENTS}/unscaled`, config('unscaled'), 'fieldManager=me');
    const path = `${DEPLOYMENTS}/unscaled/scale`;
    const metadata = { name: 'unscaled' };
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec: { replicas: 2 } };
    const messageOf = async (body: object, at = path, query = 'fieldManager=me') =>
      ((await apply(at, body, query)).body as { message: string }).message;
    expect(await messageOf({ ...scale, apiVersion: 'autoscaling/v2' })).toContain(
      'Incorrect version specified in apply patch',
    );
    // Values that have no form as a text.
    const textless = { toString: 1, valueOf: 1 };
    expect(await messageOf({ ...scale, apiVersion: textless })).toContain('Incorrect version specified');
    expect(await messageOf({ ...scale, kind: textless })).not.toContain('Internal error');
    expect(await messageOf({ ...scale, metadata: { name: 'unscaled', managedFields: [{}] } })).toContain(
      'must be nil',
    );
    const forced = 'fieldManager=me&force=true';
    expect(
      await messageOf({ ...scale, metadata: { name: 'unscaled', uid: 'another' } }, path, forced),
    ).toMatch(/deployments\/scale\.apps "unscaled": Precondition failed: UID/);
    expect(await messageOf(scale, path, '')).toContain('is required for apply patch');
    expect(await messageOf({ ...scale, metadata: { name: 'none' } }, `${DEPLOYMENTS}/none/scale`)).toContain(
      '"none" not found',
    );
    const negative = { ...scale, spec: { replicas: -1 } };
    expect(await messageOf(negative, path, forced)).toContain('must be greater than or equal to 0');
  });

  it('keeps no book of pods before the first apply, and does from then on', async () => {
    const made = await server.call('POST', PODS, podBody('quiet'));
    expect(made.body.metadata.managedFields).toBeUndefined();
    const labels = { a: '1' };
    const answer = await apply(
      `${PODS}/quiet`,
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'quiet', labels } },
      'fieldManager=me',
    );
    expect(answer.status).toBe(200);
    expect(entry(answer.body, 'before-first-apply', 'Update').fieldsV1['f:spec']).toBeDefined();
    const patched = await server.call(
      'PATCH',
      `${PODS}/quiet/status?fieldManager=kubelet`,
      { status: { phase: 'Running' } },
      { 'content-type': 'application/merge-patch+json' },
    );
    expect(entry(patched.body, 'kubelet', 'Update').subresource).toBe('status');
  });

  it('stops keeping book when one empty entry is written', async () => {
    await apply(`${DEPLOYMENTS}/forgotten`, config('forgotten'), 'fieldManager=me');
    const answer = await server.call(
      'PATCH',
      `${DEPLOYMENTS}/forgotten`,
      { metadata: { managedFields: [{}] } },
      { 'content-type': 'application/merge-patch+json' },
    );
    expect(answer.body.metadata.managedFields).toBeUndefined();
  });

  it.each<[string, string, unknown, string, number, RegExp]>([
    ['no manager', 'x', config('x'), '', 422, /fieldManager: Required value: is required for apply patch/],
    [
      'another version',
      'x',
      { ...config('x'), apiVersion: 'apps/v2' },
      'fieldManager=me',
      400,
      /^invalid object type: apps\/v2, Kind=Deployment$/,
    ],
    ['another name', 'x', config('z'), 'fieldManager=me', 400, /does not match the name on the URL/],
    [
      'ownership',
      'x',
      { ...config('x'), metadata: { name: 'x', managedFields: [{ manager: 'm' }] } },
      'fieldManager=me',
      400,
      /managedFields must be nil/,
    ],
    [
      'an unknown field',
      'x',
      config('x', { foo: 1 }),
      'fieldManager=me&fieldValidation=Strict',
      500,
      /^failed to create typed patch object \(\/x; apps\/v1, Kind=Deployment\): \.spec\.foo: field not declared in schema$/,
    ],
    ['no YAML', 'x', '{a: [', 'fieldManager=me', 400, /yaml/],
  ])('refuses %s', async (_what, name, body, query, status, message) => {
    const answer = await apply(`${DEPLOYMENTS}/${name}`, body, query);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toMatch(message);
    expect((await server.call('GET', `${DEPLOYMENTS}/${name}`)).status).toBe(404);
  });

  it('does not take force for any other patch', async () => {
    await apply(`${DEPLOYMENTS}/gentle`, config('gentle'), 'fieldManager=me');
    const answer = await server.call(
      'PATCH',
      `${DEPLOYMENTS}/gentle?force=true`,
      {},
      { 'content-type': 'application/merge-patch+json' },
    );
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain('force: Forbidden: may not be specified for non-apply patch');
  });

  it('changes nothing in a dry run', async () => {
    const answer = await apply(`${DEPLOYMENTS}/tried`, config('tried'), 'fieldManager=me&dryRun=All');
    expect(answer.status).toBe(201);
    expect((await server.call('GET', `${DEPLOYMENTS}/tried`)).status).toBe(404);
  });

  it('lets many who apply at once all have their way', async () => {
    const label = (key: string) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'crowd', labels: { [key]: 'x' } },
    });
    await apply(`${DEPLOYMENTS}/crowd`, config('crowd'), 'fieldManager=me');
    const names = Array.from({ length: 8 }, (_, index) => `m${index}`);
    const answers = await Promise.all(
      names.map((name) => apply(`${DEPLOYMENTS}/crowd`, label(name), `fieldManager=${name}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    const { body } = await server.call('GET', `${DEPLOYMENTS}/crowd`);
    for (const name of names) expect(body.metadata.labels[name]).toBe('x');
  });
});

describe('server-side apply by real kubectl', () => {
  /** The one of the machine, unless told otherwise. */
  const program = process.env['KUBECTL'] ?? 'kubectl';

  function kubectl(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const env = { ...process.env, KUBECONFIG: server.kubeconfig, HOME: server.dir };
    return new Promise((resolve) => {
      execFile(program, args, { env, timeout: 30_000 }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
      });
    });
  }

  /** Before 1.26 there is no way over from client-side apply, before 1.21 ownership is always shown. */
  async function isOld(): Promise<boolean> {
    const minor = /v1\.(\d+)\.|Minor:"(\d+)/.exec((await kubectl('version', '--client')).stdout);
    return Number(minor?.[1] ?? minor?.[2]) <= 20;
  }

  async function manifest(name: string, content: object): Promise<string> {
    const path = join(server.dir, `${name}.yaml`);
    await writeFile(path, stringify(content));
    return path;
  }

  it('applies, meets a conflict, forces its way, and shows who owns what', async () => {
    const file = await manifest('ssa', config('ssa'));
    expect((await kubectl('apply', '--server-side', '-f', file)).stdout).toContain('serverside-applied');
    await kubectl('scale', 'deploy/ssa', '--replicas=6');
    const refused = await kubectl('apply', '--server-side', '-f', file);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(
      /Apply failed with 1 conflict: conflict with "kubectl\S*" with subresource "scale" using apps\/v1.*: \.spec\.replicas/,
    );
    const forced = await kubectl('apply', '--server-side', '--force-conflicts', '-f', file);
    expect(forced).toMatchObject({ code: 0 });
    const showAll = (await isOld()) ? [] : ['--show-managed-fields'];
    const shown = await kubectl('get', 'deploy', 'ssa', '-o', 'yaml', ...showAll);
    expect(shown.stdout).toMatch(/manager: kubectl\n\s+operation: Apply/);
    expect((await kubectl('diff', '--server-side', '-f', file)).code).toBe(0);
  });

  it('goes over from client-side apply, and drops what it then no longer says', async () => {
    const labelled = config('moved');
    labelled.metadata.labels = { app: 'moved', old: 'label' };
    const before = await manifest('moved-1', labelled);
    const after = await manifest('moved-2', config('moved', { replicas: 4 }));
    expect((await kubectl('apply', '-f', before)).stdout).toContain('created');
    const moved = await kubectl('apply', '--server-side', '-f', after);
    expect(moved).toMatchObject({ code: 0, stdout: 'deployment.apps/moved serverside-applied\n' });
    const again = await kubectl('apply', '--server-side', '-f', after);
    expect(again).toMatchObject({ code: 0 });
    const { body } = await server.call('GET', `${DEPLOYMENTS}/moved`);
    expect(body.spec.replicas).toBe(4);
    // Old ones leave what they had applied before in the hands of the client-side manager.
    const old = await isOld();
    expect(body.metadata.labels).toEqual({ app: 'moved', ...(old && { old: 'label' }) });
    expect(entry(body, 'kubectl-client-side-apply', 'Update') !== undefined).toBe(old);
    const back = await kubectl('apply', '-f', after);
    expect(back).toMatchObject({ code: 0 });
  });
});
