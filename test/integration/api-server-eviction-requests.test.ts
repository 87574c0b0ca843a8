import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SystemClock, toRfc3339 } from '../../src/machinery/clock/index.js';
import { EVICTION_REQUEST_GATE } from '../../src/machinery/options/feature-gates.js';
import type { RunningApiServer } from './api-server-harness.js';
import { podBody, startApiServer } from './api-server-harness.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const GROUP = '/apis/lifecycle.k8s.io/v1alpha1';
const RESPONDERS = [{ name: 'acme.io/a', priority: 1000 }];
const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';

const podWith = (evictionResponders: readonly object[]): object => {
  const pod = podBody('web-1') as { spec: object };
  return { ...pod, spec: { ...pod.spec, evictionResponders } };
};

describe('a server without the feature gate', () => {
  let server: RunningApiServer;
  beforeAll(async () => void (server = await startApiServer()));
  afterAll(() => server.stop());

  it('knows neither the group nor the field of pods, which it warns of', async () => {
    expect((await server.call('GET', '/apis')).text).not.toContain('lifecycle.k8s.io');
    expect((await server.call('GET', GROUP)).status).toBe(404);
    expect((await server.call('GET', '/openapi/v2')).text).not.toContain('evictionResponders');
    const { body, headers, status } = await server.call(
      'POST',
      '/api/v1/namespaces/default/pods',
      podWith(RESPONDERS),
    );
    expect(status).toBe(201);
    expect(headers.get('warning')).toContain('unknown field \\"spec.evictionResponders\\"');
    expect(body.spec).not.toHaveProperty('evictionResponders');
  });
});

describe('a server with the feature gate', () => {
  const clock = new SystemClock();
  let server: RunningApiServer;
  let uid: string;

  const request = (name: string, spec: object = {}): object => ({
    ...{ apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'EvictionRequest', metadata: { name } },
    spec: {
      target: { pod: { name: 'web-1', uid } },
      ...{ requester: 'example.com/drainer', intent: 'Eviction', ...spec },
    },
  });
  const kubectl = (...args: string[]) =>
    promisify(execFile)(KUBECTL, args, {
      env: { ...process.env, KUBECONFIG: server.kubeconfig, HOME: server.dir },
    });

  beforeAll(async () => {
    server = await startApiServer({
      ...{ tls: true, clock, gates: [EVICTION_REQUEST_GATE] },
      users: [{ token: 'janes-token', username: 'jane' }],
    });
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
    const { body } = await server.call('POST', '/api/v1/namespaces/shop/pods', podWith(RESPONDERS));
    expect(body.spec.evictionResponders).toEqual(RESPONDERS);
    uid = body.metadata.uid as string;
  });
  afterAll(() => server.stop());

  it('serves requests and evictions with their status, and documents them', async () => {
    const { body } = await server.call('GET', GROUP);
    expect((body.resources as { name: string }[]).map(({ name }) => name).toSorted()).toEqual([
      ...['evictionrequests', 'evictionrequests/status', 'evictions', 'evictions/status'],
    ]);
    const { text } = await server.call('GET', '/openapi/v2');
    expect(text).toContain('io.k8s.api.lifecycle.v1alpha1.EvictionStatus');
    expect(text).toContain('evictionResponders');
  });

  it('takes a request from kubectl, shows it, and explains it', async () => {
    const file = join(server.dir, 'request.yaml');
    await writeFile(file, JSON.stringify(request('drain')));
    expect((await kubectl('-n', 'shop', 'apply', '-f', file)).stdout).toBe(
      'evictionrequest.lifecycle.k8s.io/drain created\n',
    );
    expect((await kubectl('-n', 'shop', 'get', 'evictionrequests')).stdout).toMatch(
      /^NAME +TARGET +REQUESTER +INTENT +STATE +AGE\ndrain +pod\/web-1 +example.com\/drainer +Eviction +Pending +/,
    );
    const described = await kubectl('-n', 'shop', 'describe', 'evictionrequest', 'drain');
    expect(described.stdout).toContain('Requester:  example.com/drainer');
    expect((await kubectl('explain', 'evictionrequest.spec.intent')).stdout).toContain('Withdrawn');
    const patch = JSON.stringify({ spec: { intent: 'Withdrawn' } });
    await kubectl('-n', 'shop', 'patch', 'evictionrequest', 'drain', '--type=merge', '-p', patch);
    const path = `${GROUP}/namespaces/shop/evictionrequests/drain`;
    const { body } = await server.call('GET', path);
    expect(body).toMatchObject({ metadata: { generation: 2 }, spec: { intent: 'Withdrawn' } });
    expect(body.status ?? {}).toEqual({});
  });

  it('keeps the reports of two responders that write by server-side apply', async () => {
    const path = `${GROUP}/namespaces/shop/evictions`;
    const eviction = { apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'Eviction', metadata: { name: 'e' } };
    const target = { pod: { name: 'web-1', uid } };
    expect((await server.call('POST', path, { ...eviction, spec: { target } })).status).toBe(201);
    const apply = (manager: string, status: object) =>
      server.call(
        'PATCH',
        `${path}/e/status?fieldManager=${manager}&force=true`,
        { ...eviction, status },
        { 'content-type': 'application/apply-patch+yaml' },
      );
    const now = toRfc3339(clock.now());
    const begun = await apply('evictionrequest-controller', {
      targetResponders: [{ ...RESPONDERS[0], state: 'Active' }],
      responders: [{ name: 'acme.io/a', startTime: now }],
    });
    expect(begun.status, begun.text).toBe(200);
    const reported = await apply('acme', {
      responders: [{ name: 'acme.io/a', startTime: now, heartbeatTime: now, message: 'moving' }],
    });
    expect(reported.body.status.responders).toEqual([
      { name: 'acme.io/a', startTime: now, heartbeatTime: now, message: 'moving' },
    ]);
    expect(reported.body.status.targetResponders).toHaveLength(1);
    const early = await apply('evictionrequest-controller', {
      targetResponders: [{ ...RESPONDERS[0], state: 'Interrupted' }],
      responders: [{ name: 'acme.io/a', startTime: now }],
    });
    expect(early.status).toBe(422);
    expect(early.body.message).toContain('must stay Active');
  });

  it('lets a user of one namespace ask there, and nowhere else', async () => {
    await server.call('POST', `${RBAC}/namespaces/shop/roles`, {
      metadata: { name: 'drainer' },
      rules: [
        {
          apiGroups: ['lifecycle.k8s.io'],
          resources: ['evictionrequests'],
          verbs: ['create', 'get', 'list'],
        },
      ],
    });
    await server.call('POST', `${RBAC}/namespaces/shop/rolebindings`, {
      metadata: { name: 'drainer' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'drainer' },
      subjects: [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' }],
    });
    const jane = (method: string, path: string, body?: unknown) =>
      server.call(method, `${GROUP}${path}`, body, { authorization: 'Bearer janes-token' });
    expect((await jane('POST', '/namespaces/shop/evictionrequests', request('hers'))).status).toBe(201);
    expect((await jane('POST', '/namespaces/default/evictionrequests', request('hers'))).status).toBe(403);
    expect((await jane('GET', '/evictionrequests')).status).toBe(403);
    expect((await jane('GET', '/namespaces/shop/evictions')).status).toBe(403);
    expect((await jane('PUT', '/namespaces/shop/evictionrequests/hers/status', request('hers'))).status).toBe(
      403,
    );
  });
});
