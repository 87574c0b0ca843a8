import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const NAMESPACE = '/api/v1/namespaces/default';

let api: RunningApiServer;

beforeAll(async () => {
  api = await startApiServer({ users: [{ token: 'pols-token', username: 'pol', groups: ['policers'] }] });
});
afterAll(() => api.stop());

async function made(path: string, object: object): Promise<void> {
  const { body, status } = await api.call('POST', path, object);
  expect(status, JSON.stringify(body)).toBe(201);
}

async function bind(name: string, spec: object): Promise<void> {
  await made(`${GROUP}/validatingadmissionpolicybindings`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: 'few-keys', validationActions: ['Deny'], ...spec },
  });
}

async function unbind(name: string): Promise<void> {
  await api.call('DELETE', `${GROUP}/validatingadmissionpolicybindings/${name}`);
}

const create = (name: string, keys: number, more: Body = {}) =>
  api.call('POST', `${NAMESPACE}/configmaps?dryRun=All`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...more },
    data: Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, 'v'])),
  });

it('Policies deny or warn as their bindings say, with the parameters that these name', async () => {
  await made(`${GROUP}/validatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'few-keys' },
    spec: {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['configmaps'],
          },
        ],
      },
      variables: [{ name: 'most', expression: 'int(params.data.most)' }],
      validations: [
        {
          expression: 'size(object.data) <= variables.most',
          messageExpression: "'at most ' + string(variables.most) + ' keys'",
          reason: 'Forbidden',
        },
      ],
    },
  });
  expect((await create('unbound', 3)).status).toBe(201);

  const paramRef = { name: 'limits', namespace: 'default', parameterNotFoundAction: 'Deny' };
  await bind('b', { paramRef });
  const unconfigured = await create('a', 1);
  expect(unconfigured.status).toBe(422);
  expect(unconfigured.body.message).toMatch(
    /with binding 'b' denied request: failed to configure binding: no params found/,
  );
  await unbind('b');
  await made(`${NAMESPACE}/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'limits' },
    data: { most: '2' },
  });

  await bind('b', { paramRef });
  expect((await create('a', 2)).status).toBe(201);
  const denied = await create('a', 3);
  expect(denied.status).toBe(403);
  expect(denied.body).toMatchObject({
    reason: 'Forbidden',
    message:
      "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'few-keys' with binding 'b' denied request: at most 2 keys",
  });
  await unbind('b');

  await bind('b', { paramRef, validationActions: ['Warn', 'Audit'] });
  const warned = await create('a', 3);
  expect(warned.status).toBe(201);
  expect(warned.headers.get('warning')).toMatch(
    /Validation failed for ValidatingAdmissionPolicy 'few-keys' with binding 'b': at most 2 keys/,
  );
  await unbind('b');

  await bind('b', { paramRef, matchResources: { objectSelector: { matchLabels: { judged: 'yes' } } } });
  expect((await create('a', 3)).status).toBe(201);
  expect((await create('a', 3, { labels: { judged: 'yes' } })).status).toBe(403);
});

const CONFIG_MAPS = {
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
  ],
};

function aPolicy(name: string, spec: object): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: CONFIG_MAPS, ...spec },
  };
}

it('Policies ask what those who send requests may do', async () => {
  const mayApprove = "authorizer.requestResource.check('approve').allowed()";
  const messageExpression = "request.userInfo.username + ' may not approve'";
  const spec = { validations: [{ expression: mayApprove, messageExpression }] };
  await made(`${GROUP}/validatingadmissionpolicies`, aPolicy('approved', spec));
  await bind('approved', { policyName: 'approved' });
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'maker' };
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const role = (verbs: readonly string[]) => ({
    apiVersion,
    kind: 'ClusterRole',
    metadata: { name: 'maker' },
    rules: [{ ...rules[0], verbs }],
  });
  await made(`${rbac}/clusterroles`, role(['create']));
  await made(`${rbac}/clusterrolebindings`, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'maker' },
    roleRef,
    subjects: [{ kind: 'User', name: 'eve', apiGroup: 'rbac.authorization.k8s.io' }],
  });
  const asEve = () =>
    api.call(
      'POST',
      `${NAMESPACE}/configmaps?dryRun=All`,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
      { 'impersonate-user': 'eve' },
    );
  expect((await asEve()).body.message).toMatch(
    /with binding 'approved' denied request: eve may not approve$/,
  );
  await api.call('PUT', `${rbac}/clusterroles/maker`, role(['create', 'approve']));
  expect((await asEve()).status).toBe(201);
  await unbind('approved');
});

it('Policies whose expressions are none are refused, as are webhooks with such conditions', async () => {
  const refused = await api.call(
    'POST',
    `${GROUP}/validatingadmissionpolicies`,
    aPolicy('wrong', {
      validations: [{ expression: 'nobody == 1' }, { expression: '1 + 1' }],
      matchConditions: [{ name: 'm', expression: 'object.' }],
    }),
  );
  expect(refused.status).toBe(422);
  const causes = refused.body.details.causes as { field: string; message: string }[];
  expect(causes.map(({ field }) => field)).toEqual([
    'spec.matchConditions[0].expression',
    'spec.validations[0].expression',
    'spec.validations[1].expression',
  ]);
  expect(causes[0]?.message).toContain("<input>:1:8: Syntax error: no viable alternative at input '.'");
  expect(causes[1]?.message).toContain(
    "compilation failed: ERROR: <input>:1:1: undeclared reference to 'nobody'",
  );
  expect(causes[2]?.message).toContain('must evaluate to bool but got int');
});

it('Policies say in their status what the types have against them', async () => {
  const typed = aPolicy('typed', { validations: [{ expression: 'object.spec.replicas > 1' }] });
  await made(`${GROUP}/validatingadmissionpolicies`, typed);
  await expect
    .poll(async () => (await api.call('GET', `${GROUP}/validatingadmissionpolicies/typed`)).body.status)
    .toEqual({
      observedGeneration: 1,
      typeChecking: {
        expressionWarnings: [
          {
            fieldRef: 'spec.validations[0].expression',
            warning:
              "/v1, Kind=ConfigMap: compilation failed: ERROR: <input>:1:7: undefined field 'spec'\n | object.spec.replicas > 1\n | ......^\n",
          },
        ],
      },
    });
});

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const asPol = (method: string, path: string, body?: unknown, headers = {}) =>
  api.call(method, path, body, { authorization: 'Bearer pols-token', ...headers });
const WHO = '&{pol  [policers system:authenticated] map[]}';

/** Lets `pol` do this as well. */
async function grant(name: string, rule: object, namespace?: string): Promise<void> {
  const [role, path] = namespace ? ['Role', `${RBAC}/namespaces/${namespace}`] : ['ClusterRole', RBAC];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: role, name };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'pol' }];
  await made(`${path}/${role.toLowerCase()}s`, { metadata: { name }, rules: [rule] });
  await made(`${path}/${role.toLowerCase()}bindings`, { metadata: { name }, roleRef, subjects });
}

const withParams = (name: string, kind: string, apiVersion = 'v1') =>
  aPolicy(name, { paramKind: { apiVersion, kind }, validations: [{ expression: 'true' }] });

const aBinding = (name: string, policyName: string, paramRef?: object) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name },
  spec: {
    policyName,
    validationActions: ['Deny'],
    ...(paramRef && { paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } }),
  },
});

it('A writer of a policy must be able to read its parameters everywhere, and a writer of a binding those that are named', async () => {
  const POLICIES = `${GROUP}/validatingadmissionpolicies`;
  const BINDINGS = `${GROUP}/validatingadmissionpolicybindings`;
  await grant('policer', {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
    verbs: ['*'],
  });
  await grant('own-secrets', { apiGroups: [''], resources: ['secrets'], verbs: ['*'] }, 'default');
  await made(POLICIES, withParams('of-admin', 'Secret'));

  const refused = async (answer: Promise<{ body: Body; status: number }>, field: string, problem: string) => {
    const { body, status } = await answer;
    expect(body.details?.causes).toEqual([
      { reason: 'FieldValueForbidden', field, message: `Forbidden: user ${WHO} ${problem}` },
    ]);
    expect(status).toBe(422);
  };
  const everywhere = (kind: string, apiVersion = 'v1') =>
    `must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  const onRef = 'does not have "get" permission on the object referenced by paramRef';

  // A right in one namespace is none everywhere, and an unknown kind could become anything.
  for (const [kind, version] of [['Secret'], ['Widget', 'example.com/v1'], ['ConfigMap', 'v1']] as const)
    await refused(
      asPol('POST', POLICIES, withParams('mine', kind, version)),
      'spec.paramKind',
      everywhere(kind, version),
    );
  await grant('config-maps', { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] });
  expect((await asPol('POST', POLICIES, withParams('mine', 'ConfigMap'))).status).toBe(201);
  const merge = { 'content-type': 'application/merge-patch+json' };
  await refused(
    asPol('PATCH', `${POLICIES}/mine`, { spec: { paramKind: { kind: 'Secret' } } }, merge),
    'spec.paramKind',
    everywhere('Secret'),
  );
  // An unchanged reference is not judged again.
  const labelled = await asPol('PATCH', `${POLICIES}/of-admin`, { metadata: { labels: { a: 'b' } } }, merge);
  expect(labelled.status).toBe(200);

  for (const paramRef of [
    { name: 'db', namespace: 'kube-system' },
    { name: 'db' },
    { selector: {} },
    { selector: {}, namespace: 'kube-system' },
  ])
    await refused(asPol('POST', BINDINGS, aBinding('bound', 'of-admin', paramRef)), 'spec.paramRef', onRef);
  await refused(asPol('POST', BINDINGS, aBinding('bound', 'missing', { name: 'x' })), 'spec.paramRef', onRef);
  const own = { name: 'db', namespace: 'default' };
  expect((await asPol('POST', BINDINGS, aBinding('bound', 'of-admin', own))).status).toBe(201);
  for (const spec of [{ paramRef: { namespace: 'kube-system' } }, { policyName: 'missing' }])
    await refused(asPol('PATCH', `${BINDINGS}/bound`, { spec }, merge), 'spec.paramRef', onRef);
  const apply = { 'content-type': 'application/apply-patch+yaml' };
  await refused(
    asPol(
      'PATCH',
      `${BINDINGS}/applied?fieldManager=pol`,
      aBinding('applied', 'of-admin', { name: 'db', namespace: 'kube-system' }),
      apply,
    ),
    'spec.paramRef',
    onRef,
  );
  expect((await asPol('POST', BINDINGS, aBinding('plain', 'of-admin'))).status).toBe(201);
});

it('A writer of a binding of a mutating policy must be able to read the parameters of that policy, and no others', async () => {
  const type = (kind: string) => ({ apiVersion: 'admissionregistration.k8s.io/v1', kind });
  await made(`${GROUP}/mutatingadmissionpolicies`, {
    ...type('MutatingAdmissionPolicy'),
    metadata: { name: 'with-maps' },
    spec: {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      reinvocationPolicy: 'Never',
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
        ],
      },
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
    },
  });
  await grant('mutating', {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['mutatingadmissionpolicybindings'],
    verbs: ['*'],
  });
  await grant('own-maps', { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }, 'default');
  const bound = (policyName: string, namespace: string) =>
    asPol('POST', `${GROUP}/mutatingadmissionpolicybindings?dryRun=All`, {
      ...type('MutatingAdmissionPolicyBinding'),
      metadata: { name: 'bound' },
      spec: { policyName, paramRef: { name: 'db', namespace, parameterNotFoundAction: 'Deny' } },
    });
  expect((await bound('with-maps', 'default')).status).toBe(201);
  expect((await bound('missing', 'default')).status).toBe(422);
});
