import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';
import { startWebhookServer } from './support/webhook-server.js';
import type { WebhookServer } from './support/webhook-server.js';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const RULES = [
  { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
];

let api: RunningApiServer;
let hook: WebhookServer;
let hookSees: Body[] = [];
/** The patch of the webhook for a ConfigMap. @default nothing */
let hookPatch: object[] = [];

beforeAll(async () => {
  hook = await startWebhookServer(['hook.ops.svc'], ({ apiVersion, kind, request }) => {
    hookSees.push(request.object);
    const patch = Buffer.from(JSON.stringify(hookPatch)).toString('base64');
    const response = { uid: request.uid, allowed: true, patchType: 'JSONPatch', patch };
    return { text: JSON.stringify({ apiVersion, kind, response }) };
  });
  api = await startApiServer({ users: [{ token: 'viewers-token', username: 'viewer' }] });
});
afterAll(async () => {
  await api.stop();
  await hook.stop();
});

async function made(path: string, object: object): Promise<void> {
  const { body, status } = await api.call('POST', path, object);
  expect(status, JSON.stringify(body)).toBe(201);
}

const apply = (expression: string) => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

/** Policies in force for the time of `work`, by name. */
async function under(policies: Record<string, Body>, work: () => Promise<void>): Promise<void> {
  const names = Object.keys(policies);
  for (const name of names) {
    const { binding, ...given } = policies[name];
    const spec = { reinvocationPolicy: 'Never', matchConstraints: { resourceRules: RULES }, ...given };
    await made(`${GROUP}/mutatingadmissionpolicies`, { metadata: { name }, spec });
    await made(`${GROUP}/mutatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, ...binding },
    });
  }
  try {
    await work();
  } finally {
    for (const name of names) {
      await api.call('DELETE', `${GROUP}/mutatingadmissionpolicybindings/${name}`);
      await api.call('DELETE', `${GROUP}/mutatingadmissionpolicies/${name}`);
    }
  }
}

let count = 0;
const create = (data: Body, labels?: Body) => {
  const metadata = { name: `c${count++}`, ...(labels && { labels }) };
  return api.call('POST', '/api/v1/namespaces/default/configmaps', { metadata, data });
};

describe('a MutatingAdmissionPolicy', () => {
  it('lays a configuration over what is written, by what it knows of the request', async () => {
    const variables = [{ name: 'key', expression: '"by-" + request.operation.lowerAscii()' }];
    const mutations = [apply('Object{metadata: Object.metadata{labels: {variables.key: object.data.a}}}')];
    await under({ label: { variables, mutations } }, async () => {
      const { body } = await create({ a: 'x' }, { own: 'y' });
      expect(body.metadata.labels).toEqual({ own: 'y', 'by-create': 'x' });
      const path = `/api/v1/namespaces/default/configmaps/${body.metadata.name}`;
      const merge = { 'content-type': 'application/merge-patch+json' };
      const { body: updated } = await api.call('PATCH', path, { data: { a: 'z' } }, merge);
      expect(updated.metadata.labels).toEqual({ own: 'y', 'by-create': 'x', 'by-update': 'z' });
    });
    expect((await create({ a: 'x' })).body.metadata.labels).toBeUndefined();
  });

  it('patches, one mutation after another', async () => {
    const mutations = [
      patch('[JSONPatch{op: "add", path: "/data/b", value: object.data.a + "1"}]'),
      patch(
        'has(object.data.b) ? [JSONPatch{op: "add", path: "/data/c", value: object.data.b + "2"}, JSONPatch{op: "remove", path: "/data/a"}] : []',
      ),
    ];
    await under({ chain: { mutations } }, async () => {
      expect((await create({ a: 'x' })).body.data).toEqual({ b: 'x1', c: 'x12' });
    });
  });

  it('merges lists by their keys, and gives what it makes its defaults', async () => {
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
    const mutations = [
      apply(
        'Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: "proxy", image: "proxy:1", restartPolicy: "Always"}]}}',
      ),
    ];
    await under({ sidecar: { matchConstraints: { resourceRules: rules }, mutations } }, async () => {
      const spec = {
        containers: [{ name: 'c', image: 'i' }],
        initContainers: [{ name: 'init', image: 'i' }],
      };
      const { body } = await api.call('POST', '/api/v1/namespaces/default/pods?dryRun=All', {
        metadata: { name: 'p' },
        spec,
      });
      const inits = body.spec.initContainers as { name: string; imagePullPolicy?: string }[];
      expect(inits.map(({ name, imagePullPolicy }) => `${name} ${imagePullPolicy}`)).toEqual([
        'init Always',
        'proxy IfNotPresent',
      ]);
    });
  });

  it('is for what its conditions, its binding and its parameters select', async () => {
    await made('/api/v1/namespaces/default/configmaps', { metadata: { name: 'params' }, data: { to: 'p' } });
    const policy = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConditions: [{ name: 'wanted', expression: 'object.data.a == "yes"' }],
      mutations: [apply('Object{data: {"to": params.data.to}}')],
      binding: {
        paramRef: { name: 'params', parameterNotFoundAction: 'Deny' },
        matchResources: { objectSelector: { matchLabels: { l: 'v' } } },
      },
    };
    await under({ params: policy }, async () => {
      expect((await create({ a: 'yes' }, { l: 'v' })).body.data).toEqual({ a: 'yes', to: 'p' });
      expect((await create({ a: 'no' }, { l: 'v' })).body.data).toEqual({ a: 'no' });
      expect((await create({ a: 'yes' })).body.data).toEqual({ a: 'yes' });
    });
    const missing = { ...policy, binding: { paramRef: { name: 'nosuch', parameterNotFoundAction: 'Deny' } } };
    await under({ missing }, async () => {
      const { body, status } = await create({ a: 'yes' });
      expect([status, body.message]).toEqual([
        422,
        expect.stringContaining('no params found for policy binding'),
      ]);
    });
  });

  const failures: [string, Body, RegExp][] = [
    [
      'fails',
      apply('Object{data: {"x": object.data.nowhere}}'),
      /^configmaps "c\d+" is forbidden: policy 'bad' with binding 'bad' denied request: expression .* resulted in error/,
    ],
    [
      'speaks of fields that are not there',
      apply('Object{nowhere: 1}'),
      /\.nowhere: field not declared in schema/,
    ],
    [
      'confuses types',
      apply('Object{metadata: Object.data{}}'),
      /type mismatch: unexpected type name "Object.data"/,
    ],
    [
      'patches what is not there',
      patch('[JSONPatch{op: "remove", path: "/data/nowhere"}]'),
      /denied request/,
    ],
    ['leaves no object', patch('[JSONPatch{op: "replace", path: "/data", value: "text"}]'), /denied request/],
  ];
  it.each(failures)(
    'refuses if it %s, unless failures are to be ignored',
    async (_what, mutation, message) => {
      await under({ bad: { mutations: [mutation] } }, async () => {
        const { body, status } = await create({ a: 'x' });
        expect([status, body.reason]).toEqual([422, 'Invalid']);
        expect(body.message).toMatch(message);
      });
      await under({ bad: { mutations: [mutation], failurePolicy: 'Ignore' } }, async () => {
        expect((await create({ a: 'x' })).body.data).toEqual({ a: 'x' });
      });
    },
  );

  it('replaces nothing whole that it names in part', async () => {
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['services'] }];
    const mutations = [apply('Object{spec: Object.spec{selector: {"a": "b"}}}')];
    await under({ atomic: { matchConstraints: { resourceRules: rules }, mutations } }, async () => {
      const { body } = await api.call('POST', '/api/v1/namespaces/default/services', {
        metadata: { name: 's' },
        spec: { ports: [{ port: 80 }] },
      });
      expect(body.message).toContain('may not mutate atomic arrays, maps or structs: .spec.selector');
    });
  });

  it('is asked again, once, after another has changed the object, if it wants to be', async () => {
    const counts = (key: string, other: string) => ({
      mutations: [
        patch(
          `[JSONPatch{op: "add", path: "/data/${key}", value: "${other}" in object.data ? "late" : "early"}]`,
        ),
      ],
    });
    const first = { ...counts('first', 'second'), reinvocationPolicy: 'IfNeeded' };
    await under({ a: first, b: counts('second', 'first') }, async () => {
      expect((await create({ z: 'z' })).body.data).toEqual({ z: 'z', first: 'late', second: 'late' });
    });
    await under({ a: counts('first', 'second'), b: counts('second', 'first') }, async () => {
      expect((await create({ z: 'z' })).body.data).toEqual({ z: 'z', first: 'early', second: 'late' });
    });
  });

  it('comes before the webhooks, and again after what they change', async () => {
    hookSees = [];
    hookPatch = [{ op: 'add', path: '/data/hook', value: 'h' }];
    await made(`${GROUP}/mutatingwebhookconfigurations`, {
      metadata: { name: 'hook' },
      webhooks: [
        {
          name: 'hook.example.com',
          clientConfig: { url: `https://${hook.address}/x`, caBundle: hook.caBundle },
          rules: RULES,
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          timeoutSeconds: 5,
        },
      ],
    });
    const mutations = [
      patch('[JSONPatch{op: "add", path: "/data/p", value: "hook" in object.data ? "after" : "before"}]'),
    ];
    await under({ p: { mutations, reinvocationPolicy: 'IfNeeded' } }, async () => {
      expect((await create({ z: 'z' })).body.data).toEqual({ z: 'z', hook: 'h', p: 'after' });
    });
    expect(hookSees.map(({ data }: Body) => data)).toEqual([{ z: 'z', p: 'before' }]);
    await api.call('DELETE', `${GROUP}/mutatingwebhookconfigurations/hook`);
  });

  it('is refused where its expressions are none', async () => {
    const mutations = [
      apply('"text"'),
      patch('1'),
      apply('Object{'),
      { patchType: 'Other' },
      { patchType: 'JSONPatch', applyConfiguration: { expression: 'Object{}' } },
    ];
    const spec = { reinvocationPolicy: 'Never', matchConstraints: { resourceRules: RULES }, mutations };
    const { body } = await api.call('POST', `${GROUP}/mutatingadmissionpolicies`, {
      metadata: { name: 'x' },
      spec,
    });
    expect(body.details.causes.map(({ field }: { field: string }) => field)).toEqual([
      'spec.mutations[0].applyConfiguration.expression',
      'spec.mutations[1].jsonPatch.expression',
      'spec.mutations[2].applyConfiguration.expression',
      'spec.mutations[3].patchType',
      'spec.mutations[4].jsonPatch',
      'spec.mutations[4].applyConfiguration',
    ]);
  });

  it('can be read by those alone who may', async () => {
    const viewer = { authorization: 'Bearer viewers-token' };
    const { status } = await api.call('GET', `${GROUP}/mutatingadmissionpolicies`, undefined, viewer);
    expect(status).toBe(403);
  });
});
