import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aDeployment, podBody, startApiServer, TOKEN } from './api-server-harness.js';
import type { RunningApiServer } from './api-server-harness.js';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const PODS = '/api/v1/namespaces/default/pods';
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };
const MERGE = { 'content-type': 'application/merge-patch+json' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };

let server: RunningApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.stop());

describe('a namespace', () => {
  it('has a service account that pods can act as, from the beginning', async () => {
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'fresh' } });
    for (const namespace of ['default', 'kube-system', 'fresh']) {
      const { status } = await server.call('GET', `/api/v1/namespaces/${namespace}/serviceaccounts/default`);
      expect(status).toBe(200);
    }
  });
});

describe('creating', () => {
  it('answers 201 with the object as it was stored: defaults, uid, time, version, generation', async () => {
    const { status, body } = await server.call('POST', DEPLOYMENTS, aDeployment('fresh'));
    expect(status).toBe(201);
    expect(body.metadata).toMatchObject({ name: 'fresh', namespace: 'default', generation: 1 });
    expect(body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(0);
    expect(body.spec.strategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' },
    });
  });

  it('makes a name from generateName', async () => {
    const pod = { ...podBody(''), metadata: { generateName: 'web-' } };
    const { status, body } = await server.call('POST', PODS, pod);
    expect(status).toBe(201);
    expect(body.metadata.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  it('stores nothing when it is a dry run', async () => {
    const { status } = await server.call('POST', `${DEPLOYMENTS}?dryRun=All`, aDeployment('dry'));
    expect(status).toBe(201);
    expect((await server.call('GET', `${DEPLOYMENTS}/dry`)).status).toBe(404);
  });

  it('takes YAML', async () => {
    const yaml = 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: from-yaml\n';
    const type = { 'content-type': 'application/yaml' };
    const { status, body } = await server.call('POST', '/api/v1/namespaces', yaml, type);
    expect(status).toBe(201);
    expect(body.spec.finalizers).toEqual(['kubernetes']);
  });

  it('warns of unknown fields unless told to be strict', async () => {
    const odd = aDeployment('odd', { foo: 1 });
    const { status, headers, body } = await server.call('POST', `${DEPLOYMENTS}?fieldValidation=Warn`, odd);
    expect(status).toBe(201);
    expect(headers.get('warning')).toBe('299 - "unknown field \\"spec.foo\\""');
    expect(body.spec.foo).toBeUndefined();
  });
});

describe('bad input is refused as Kubernetes does, and changes nothing', () => {
  beforeAll(async () => {
    await server.call('POST', DEPLOYMENTS, aDeployment('kept'));
  });

  const invalidSelector = aDeployment('bad', { selector: { matchLabels: { app: 'other' } } });
  const noRoom = aDeployment('bad', {
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } },
  });
  const cases: readonly {
    name: string;
    method?: string;
    path?: string;
    body?: unknown;
    headers?: Record<string, string>;
    code: number;
    /** Absent: there is none. */
    reason?: string;
    says: RegExp;
  }[] = [
    {
      name: 'a selector that does not match the template',
      body: invalidSelector,
      code: 422,
      reason: 'Invalid',
      says: /^Deployment\.apps "bad" is invalid: spec\.template\.metadata\.labels: Invalid value: .*`selector` does not match template `labels`$/,
    },
    {
      name: 'maxSurge and maxUnavailable both 0',
      body: noRoom,
      code: 422,
      reason: 'Invalid',
      says: /maxUnavailable: Invalid value: .*may not be 0 when `maxSurge` is 0/,
    },
    {
      name: 'negative replicas',
      body: aDeployment('bad', { replicas: -1 }),
      code: 422,
      reason: 'Invalid',
      says: /spec\.replicas: Invalid value: -1: must be greater than or equal to 0$/,
    },
    {
      name: 'an unknown field under strict validation',
      path: `${DEPLOYMENTS}?fieldValidation=Strict`,
      body: aDeployment('bad', { foo: 1 }),
      code: 400,
      reason: 'BadRequest',
      says: /strict decoding error: unknown field "spec\.foo"$/,
    },
    {
      name: 'malformed JSON',
      body: '{"a":',
      code: 400,
      reason: 'BadRequest',
      says: /unexpected end of JSON input/,
    },
    {
      name: 'malformed YAML',
      body: 'a: b: c',
      headers: { 'content-type': 'application/yaml' },
      code: 400,
      reason: 'BadRequest',
      says: /^the object provided is unrecognized \(must be of type Deployment\): yaml: line 1: /,
    },
    {
      name: 'a value of a wrong type',
      body: aDeployment('bad', { replicas: 'many' }),
      code: 400,
      reason: 'BadRequest',
      says: /cannot unmarshal string into Go struct field DeploymentSpec\.spec\.replicas of type int32$/,
    },
    {
      name: 'a wrong token',
      headers: { authorization: 'Bearer wrong' },
      method: 'GET',
      code: 401,
      reason: 'Unauthorized',
      says: /^Unauthorized$/,
    },
    {
      name: 'a name that is taken',
      body: aDeployment('kept'),
      code: 409,
      reason: 'AlreadyExists',
      says: /^deployments\.apps "kept" already exists$/,
    },
    {
      name: 'a stale resourceVersion',
      method: 'PUT',
      path: `${DEPLOYMENTS}/kept`,
      body: { ...aDeployment('kept', { replicas: 9 }), metadata: { name: 'kept', resourceVersion: '1' } },
      code: 409,
      reason: 'Conflict',
      says: /^Operation cannot be fulfilled on deployments\.apps "kept": the object has been modified; please apply your changes to the latest version and try again$/,
    },
    {
      name: 'a stale resourceVersion in a patch',
      method: 'PATCH',
      path: `${DEPLOYMENTS}/kept`,
      body: { metadata: { resourceVersion: '1' }, spec: { replicas: 9 } },
      headers: MERGE,
      code: 409,
      reason: 'Conflict',
      says: /the object has been modified/,
    },
    {
      name: 'another name than in the path',
      method: 'PUT',
      path: `${DEPLOYMENTS}/kept`,
      body: aDeployment('other'),
      code: 400,
      reason: 'BadRequest',
      says: /^the name of the object \(other\) does not match the name on the URL \(kept\)$/,
    },
    {
      name: 'another namespace than in the path',
      body: { ...aDeployment('bad'), metadata: { name: 'bad', namespace: 'kube-system' } },
      code: 400,
      reason: 'BadRequest',
      says: /^the namespace of the provided object does not match the namespace sent on the request$/,
    },
    {
      name: 'another kind than in the path',
      body: { ...aDeployment('bad'), kind: 'ReplicaSet' },
      code: 400,
      reason: 'BadRequest',
      says: /^ReplicaSet in version "v1" cannot be handled as a Deployment: /,
    },
    {
      name: 'a resourceVersion in a creation',
      body: { ...aDeployment('bad'), metadata: { name: 'bad', resourceVersion: '5' } },
      code: 500,
      says: /^resourceVersion should not be set on objects to be created$/,
    },
    {
      name: 'no name',
      body: { ...aDeployment('bad'), metadata: {} },
      code: 422,
      reason: 'Invalid',
      says: /metadata\.name: Required value: name or generateName is required$/,
    },
    {
      name: 'a namespace that does not exist',
      path: '/apis/apps/v1/namespaces/nowhere/deployments',
      body: aDeployment('bad'),
      code: 404,
      reason: 'NotFound',
      says: /^namespaces "nowhere" not found$/,
    },
    {
      name: 'an object that does not exist',
      method: 'GET',
      path: `${DEPLOYMENTS}/nope`,
      code: 404,
      reason: 'NotFound',
      says: /^deployments\.apps "nope" not found$/,
    },
    {
      name: 'a resource that does not exist',
      method: 'GET',
      path: '/apis/apps/v1/namespaces/default/widgets',
      code: 404,
      reason: 'NotFound',
      says: /^the server could not find the requested resource$/,
    },
    {
      name: 'a method without meaning',
      method: 'PUT',
      body: {},
      code: 405,
      reason: 'MethodNotAllowed',
      says: /^the server does not allow this method on the requested resource$/,
    },
    {
      name: 'a body of an unknown media type',
      headers: { 'content-type': 'text/plain' },
      body: 'hello',
      code: 415,
      reason: 'UnsupportedMediaType',
      says: /^the body of the request was in an unknown format - accepted media types include: /,
    },
    {
      name: 'a patch of an unknown media type',
      method: 'PATCH',
      path: `${DEPLOYMENTS}/kept`,
      body: {},
      code: 415,
      reason: 'UnsupportedMediaType',
      says: /^415: Unsupported Media Type$/,
    },
    {
      name: 'a form of answer that we have not',
      method: 'GET',
      headers: { accept: 'application/xml' },
      code: 406,
      reason: 'NotAcceptable',
      says: /application\/json/,
    },
    {
      name: 'a JSON patch that does not fit',
      method: 'PATCH',
      path: `${DEPLOYMENTS}/kept`,
      body: [{ op: 'remove', path: '/spec/nothing' }],
      headers: JSON_PATCH,
      code: 422,
      reason: 'Invalid',
      says: /^the server rejected our request due to an error in our request$/,
    },
    {
      name: 'an unknown field in a strict patch',
      method: 'PATCH',
      path: `${DEPLOYMENTS}/kept?fieldValidation=Strict`,
      body: { spec: { foo: 1 } },
      headers: STRATEGIC,
      code: 422,
      reason: 'Invalid',
      says: /strict decoding error: unknown field "spec\.foo"$/,
    },
    {
      name: 'a label selector that cannot be read',
      method: 'GET',
      path: `${DEPLOYMENTS}?labelSelector=a%20b`,
      code: 400,
      reason: 'BadRequest',
      says: /unable to parse requirement/,
    },
    {
      name: 'a field selector on a field that cannot be selected',
      method: 'GET',
      path: `${DEPLOYMENTS}?fieldSelector=spec.foo%3Dbar`,
      code: 400,
      reason: 'BadRequest',
      says: /^"spec\.foo" is not a known field selector: only "metadata\.name", "metadata\.namespace"$/,
    },
    {
      name: 'a continue token that is none',
      method: 'GET',
      path: `${DEPLOYMENTS}?continue=abc`,
      code: 400,
      reason: 'BadRequest',
      says: /continue key is not valid/,
    },
    {
      name: 'a resourceVersion from the future',
      method: 'GET',
      path: `${DEPLOYMENTS}?resourceVersion=99999999`,
      code: 504,
      reason: 'Timeout',
      says: /Too large resource version: 99999999, current: \d+$/,
    },
    {
      name: 'a list with sendInitialEvents',
      method: 'GET',
      path: `${DEPLOYMENTS}?sendInitialEvents=true`,
      code: 422,
      reason: 'Invalid',
      says: /sendInitialEvents is forbidden for list/,
    },
    {
      name: 'a dry run of an unknown sort',
      path: `${DEPLOYMENTS}?dryRun=Some`,
      body: aDeployment('bad'),
      code: 422,
      reason: 'Invalid',
      says: /dryRun: Unsupported value: \["Some"\]: supported values: "All"$/,
    },
    {
      name: 'a propagation policy of an unknown sort',
      method: 'DELETE',
      path: `${DEPLOYMENTS}/kept`,
      body: { propagationPolicy: 'Sideways' },
      code: 422,
      reason: 'Invalid',
      says: /Unsupported value: "Sideways"/,
    },
    {
      name: 'a deletion with a uid that is not the object’s',
      method: 'DELETE',
      path: `${DEPLOYMENTS}/kept`,
      body: { preconditions: { uid: 'other' } },
      code: 409,
      reason: 'Conflict',
      says: /the UID in the precondition \(other\) does not match the UID in record/,
    },
    {
      name: 'a negative scale',
      method: 'PATCH',
      path: `${DEPLOYMENTS}/kept/scale`,
      body: { spec: { replicas: -1 } },
      headers: MERGE,
      code: 422,
      reason: 'Invalid',
      says: /spec\.replicas: Invalid value: -1: must be greater than or equal to 0$/,
    },
    {
      name: 'the deletion of the default namespace',
      method: 'DELETE',
      path: '/api/v1/namespaces/default',
      code: 403,
      reason: 'Forbidden',
      says: /^namespaces "default" is forbidden: this namespace may not be deleted$/,
    },
  ];

  it.each(cases)(
    '$name',
    async ({ method = 'POST', path = DEPLOYMENTS, body, headers, code, reason, says }) => {
      const before = await server.storage.currentRevision();
      const answer = await server.call(method, path, body, headers);
      expect({ status: answer.status, ...answer.body }).toMatchObject({
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        code,
        ...(reason !== undefined && { reason }),
      });
      expect(answer.status).toBe(code);
      expect(answer.body.message).toMatch(says);
      expect(await server.storage.currentRevision()).toBe(before);
    },
  );
});

describe('updating', () => {
  it('raises the generation when the spec changes, and not for labels or status', async () => {
    const { body: first } = await server.call('POST', DEPLOYMENTS, aDeployment('gen'));
    first.metadata.labels.x = 'y';
    const { body: second } = await server.call('PUT', `${DEPLOYMENTS}/gen`, first);
    expect(second.metadata.generation).toBe(1);
    second.status = { observedGeneration: 1, replicas: 3 };
    const { body: third } = await server.call('PUT', `${DEPLOYMENTS}/gen/status`, second);
    expect(third.metadata.generation).toBe(1);
    expect(third.status.replicas).toBe(3);
    const patch = { spec: { replicas: 5 }, status: { replicas: 99 } };
    const { body: fourth } = await server.call('PATCH', `${DEPLOYMENTS}/gen`, patch, MERGE);
    expect(fourth.metadata.generation).toBe(2);
    expect(fourth.status.replicas).toBe(3);
  });

  it('writes nothing when nothing changes', async () => {
    const { body: first } = await server.call('POST', DEPLOYMENTS, aDeployment('same'));
    const { body: second } = await server.call('PUT', `${DEPLOYMENTS}/same`, first);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it('lets patches that race all come through', async () => {
    await server.call('POST', DEPLOYMENTS, aDeployment('raced'));
    const names = Array.from({ length: 20 }, (_, index) => `l${index}`);
    const answers = await Promise.all(
      names.map((name) =>
        server.call('PATCH', `${DEPLOYMENTS}/raced`, { metadata: { labels: { [name]: 'x' } } }, MERGE),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    const { body } = await server.call('GET', `${DEPLOYMENTS}/raced`);
    expect(Object.keys(body.metadata.labels)).toEqual(expect.arrayContaining(names));
  });

  it('merges containers by their name in a strategic merge patch', async () => {
    await server.call('POST', DEPLOYMENTS, aDeployment('strategic'));
    const patch = {
      spec: {
        template: {
          spec: {
            $setElementOrder: undefined,
            '$setElementOrder/containers': [{ name: 'nginx' }, { name: 'side' }],
            containers: [
              { name: 'nginx', env: [{ name: 'A', value: 'b' }] },
              { name: 'side', image: 'side:1' },
            ],
          },
        },
      },
    };
    const { status, body } = await server.call('PATCH', `${DEPLOYMENTS}/strategic`, patch, STRATEGIC);
    expect(status).toBe(200);
    const containers = body.spec.template.spec.containers;
    expect(containers.map(({ name, image }: { name: string; image: string }) => [name, image])).toEqual([
      ['nginx', 'nginx:1.9'],
      ['side', 'side:1'],
    ]);
    expect(containers[0].env).toEqual([{ name: 'A', value: 'b' }]);
  });

  it('shows and takes the Scale of a Deployment', async () => {
    await server.call('POST', DEPLOYMENTS, aDeployment('scaled'));
    const { body: scale } = await server.call('GET', `${DEPLOYMENTS}/scaled/scale`);
    expect(scale).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 3 },
      status: { replicas: 0, selector: 'app=scaled' },
    });
    scale.spec.replicas = 7;
    const { status } = await server.call('PUT', `${DEPLOYMENTS}/scaled/scale`, scale);
    expect(status).toBe(200);
    expect((await server.call('PUT', `${DEPLOYMENTS}/scaled/scale`, scale)).status).toBe(409);
    expect((await server.call('GET', `${DEPLOYMENTS}/scaled`)).body.spec.replicas).toBe(7);
  });

  it('binds a pod to a node, once', async () => {
    await server.call('POST', PODS, podBody('bound'));
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'bound' },
      target: { kind: 'Node', name: 'n1' },
    };
    expect((await server.call('POST', `${PODS}/bound/binding`, binding)).status).toBe(201);
    const { body } = await server.call('GET', `${PODS}/bound`);
    expect(body.spec.nodeName).toBe('n1');
    expect(body.status.conditions).toMatchObject([{ type: 'PodScheduled', status: 'True' }]);
    const again = await server.call('POST', `${PODS}/bound/binding`, binding);
    expect(again.status).toBe(409);
    expect(again.body.message).toContain('is already assigned to node "n1"');
  });
});

describe('deleting', () => {
  it('answers a Status with the uid when the object is gone', async () => {
    const { body: created } = await server.call('POST', DEPLOYMENTS, aDeployment('gone'));
    const { status, body } = await server.call('DELETE', `${DEPLOYMENTS}/gone`, {
      propagationPolicy: 'Background',
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'gone', group: 'apps', kind: 'deployments', uid: created.metadata.uid },
    });
  });

  it.each([
    ['Foreground', 'foregroundDeletion'],
    ['Orphan', 'orphan'],
  ])('keeps the object with a finalizer for %s, until that is taken away', async (policy, finalizer) => {
    const name = policy.toLowerCase();
    await server.call('POST', DEPLOYMENTS, aDeployment(name));
    const { body } = await server.call('DELETE', `${DEPLOYMENTS}/${name}`, { propagationPolicy: policy });
    expect(body.metadata).toMatchObject({
      finalizers: [finalizer],
      deletionGracePeriodSeconds: 0,
      generation: 2,
    });
    expect(body.metadata.deletionTimestamp).toBeDefined();
    await server.call('PATCH', `${DEPLOYMENTS}/${name}`, { metadata: { finalizers: null } }, MERGE);
    expect((await server.call('GET', `${DEPLOYMENTS}/${name}`)).status).toBe(404);
  });

  it('gives a pod on a node its grace, which a later deletion can only shorten', async () => {
    await server.call('POST', PODS, { ...podBody('graced'), spec: { ...podBody('x').spec, nodeName: 'n1' } });
    const first = await server.call('DELETE', `${PODS}/graced`, {});
    expect(first.body.metadata.deletionGracePeriodSeconds).toBe(30);
    const longer = await server.call('DELETE', `${PODS}/graced`, { gracePeriodSeconds: 60 });
    expect(longer.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
    const shorter = await server.call('DELETE', `${PODS}/graced`, { gracePeriodSeconds: 5 });
    expect(shorter.body.metadata.deletionGracePeriodSeconds).toBe(5);
    const now = await server.call('DELETE', `${PODS}/graced`, { gracePeriodSeconds: 0 });
    expect(now.body.metadata.name).toBe('graced');
    expect((await server.call('GET', `${PODS}/graced`)).status).toBe(404);
  });

  it('deletes a selected collection', async () => {
    for (const name of ['c1', 'c2', 'c3']) {
      await server.call('POST', PODS, podBody(name, { labels: { part: name === 'c3' ? 'no' : 'yes' } }));
    }
    const { body } = await server.call('DELETE', `${PODS}?labelSelector=part%3Dyes`);
    expect(body.items).toHaveLength(2);
    const { body: left } = await server.call('GET', `${PODS}?labelSelector=part`);
    expect(left.items.map((pod: { metadata: { name: string } }) => pod.metadata.name)).toEqual(['c3']);
  });

  it('keeps a namespace Terminating until it is finalized, and lets nothing new in', async () => {
    const path = '/api/v1/namespaces/going';
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'going' } });
    const { body } = await server.call('DELETE', path);
    expect(body.status.phase).toBe('Terminating');
    const refused = await server.call('POST', '/api/v1/namespaces/going/pods', podBody('late'));
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      reason: 'Forbidden',
      message:
        'pods "late" is forbidden: unable to create new content in namespace going because it is being terminated',
      details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
    });
    body.spec.finalizers = [];
    expect((await server.call('PUT', `${path}/finalize`, body)).status).toBe(200);
    expect((await server.call('GET', path)).status).toBe(404);
  });
});

describe('lists', () => {
  beforeAll(async () => {
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'lists' } });
    for (let i = 0; i < 5; i++) {
      const pod = podBody(`p${i}`, { labels: { n: String(i), even: String(i % 2 === 0) } });
      await server.call('POST', '/api/v1/namespaces/lists/pods', pod);
    }
  });
  const names = (body: { items: { metadata: { name: string } }[] }) =>
    body.items.map(({ metadata }) => metadata.name);

  it.each([
    ['labelSelector=even%3Dtrue', ['p0', 'p2', 'p4']],
    ['labelSelector=even!%3Dtrue', ['p1', 'p3']],
    ['labelSelector=n%20in%20(1%2C3)', ['p1', 'p3']],
    ['labelSelector=n%20notin%20(1%2C3)%2Ceven', ['p0', 'p2', 'p4']],
    ['labelSelector=!even', []],
    ['fieldSelector=metadata.name%3Dp2', ['p2']],
    ['fieldSelector=metadata.name!%3Dp2%2Cstatus.phase%3DPending', ['p0', 'p1', 'p3', 'p4']],
  ])('select by %s', async (query, expected) => {
    const { body } = await server.call('GET', `/api/v1/namespaces/lists/pods?${query}`);
    expect(names(body)).toEqual(expected);
  });

  it('name the kind once, for all items', async () => {
    const { body } = await server.call('GET', '/api/v1/namespaces/lists/pods');
    expect([body.kind, body.apiVersion]).toEqual(['PodList', 'v1']);
    expect(Object.keys(body.items[0])).toEqual(['metadata', 'spec', 'status']);
  });

  it('go on page by page in the state of the first page', async () => {
    const path = '/api/v1/namespaces/lists/pods?limit=2';
    const { body: first } = await server.call('GET', path);
    expect(names(first)).toEqual(['p0', 'p1']);
    expect(first.metadata.remainingItemCount).toBe(3);
    await server.call('POST', '/api/v1/namespaces/lists/pods', podBody('p3a'));
    const { body: second } = await server.call('GET', `${path}&continue=${first.metadata.continue}`);
    const { body: third } = await server.call('GET', `${path}&continue=${second.metadata.continue}`);
    expect([...names(second), ...names(third)]).toEqual(['p2', 'p3', 'p4']);
    expect(third.metadata.continue).toBeUndefined();
    expect(third.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    await server.call('DELETE', '/api/v1/namespaces/lists/pods/p3a');
  });

  it('tell 410 Expired for a page whose state is gone', async () => {
    const path = '/api/v1/namespaces/lists/pods?limit=2';
    const { body: first } = await server.call('GET', path);
    await server.call('POST', PODS, podBody('newer'));
    await server.storage.compact(await server.storage.currentRevision());
    const { status, body } = await server.call('GET', `${path}&continue=${first.metadata.continue}`);
    expect([status, body.reason]).toEqual([410, 'Expired']);
  });

  it('come as a Table for kubectl', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
    const { body } = await server.call('GET', '/api/v1/namespaces/lists/pods', undefined, { accept });
    expect(body.kind).toBe('Table');
    expect(body.columnDefinitions[0]).toMatchObject({
      name: 'Name',
      type: 'string',
      format: 'name',
      priority: 0,
    });
    expect(body.rows[0].cells.slice(0, 3)).toEqual(['p0', '0/1', 'Pending']);
    expect(body.rows[0].object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'p0' } });
  });

  it('come as metadata only', async () => {
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    const { body } = await server.call('GET', '/api/v1/namespaces/lists/pods', undefined, { accept });
    expect(body.kind).toBe('PartialObjectMetadataList');
    expect(Object.keys(body.items[0])).toEqual(['kind', 'apiVersion', 'metadata']);
  });

  it('are compressed when large and asked for', async () => {
    const response = await fetch(`${server.url}/openapi/v2`, {
      headers: { authorization: `Bearer ${TOKEN}`, 'accept-encoding': 'gzip' },
    });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(((await response.json()) as { swagger: string }).swagger).toBe('2.0');
  });
});

describe('health, version and documents', () => {
  it.each(['/healthz', '/livez', '/readyz'])('%s answers ok without a token', async (path) => {
    const response = await fetch(server.url + path);
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
  });

  it('calls itself 1.36.2, in indented JSON', async () => {
    const { text, body } = await server.call('GET', '/version');
    expect(body).toMatchObject({
      major: '1',
      minor: '36',
      gitVersion: 'v1.36.2',
      minCompatibilityMinor: '35',
    });
    expect(text).toMatch(/^\{\n {2}"major": "1",\n {2}"minor": "36",\n/);
  });

  it('declares fieldValidation for every write, so that kubectl leaves validation to the server', async () => {
    const { body: index } = await server.call('GET', '/openapi/v3');
    const { body } = await server.call('GET', index.paths['apis/apps/v1'].serverRelativeURL);
    const item = body.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'];
    for (const method of ['put', 'patch']) {
      expect(item[method].parameters.map(({ name }: { name: string }) => name)).toContain('fieldValidation');
    }
    expect(Object.keys(item.patch.requestBody.content)).toContain('application/strategic-merge-patch+json');
  });

  it('answers 304 to who has the document already', async () => {
    const { headers } = await server.call('GET', '/openapi/v2');
    const again = await server.call('GET', '/openapi/v2', undefined, {
      'if-none-match': headers.get('etag')!,
    });
    expect(again.status).toBe(304);
  });
});
