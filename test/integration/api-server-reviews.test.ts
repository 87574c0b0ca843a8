import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { createHttpApiClient, loadKubeconfig } from '../../src/client/api-client/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { DelegatedAccess } from '../../src/rollkeeper/admin/delegated-access/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import type { Body, RunningApiServer } from './api-server-harness.js';
import { TOKEN, startApiServer } from './api-server-harness.js';

const AUTHENTICATION = '/apis/authentication.k8s.io/v1';
const AUTHORIZATION = '/apis/authorization.k8s.io/v1';
const AUDIENCE = 'https://kubernetes.default.svc.cluster.local';
const attributes = { resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } };

describe('reviews', () => {
  let server: RunningApiServer;

  beforeAll(async () => {
    server = await startApiServer({ tls: true });
  });
  afterAll(() => server.stop());

  /** Creates a review; answers its status, or what the server has against it. */
  const review = async (
    path: string,
    kind: string,
    spec?: object,
  ): Promise<{ code: number; answer: Body }> => {
    const group = path.includes('authentication') ? 'authentication' : 'authorization';
    const body = { apiVersion: `${group}.k8s.io/v1`, kind, spec };
    const { body: answer, status } = await server.call('POST', path, body);
    return { code: status, answer: answer };
  };
  const token = (spec: object) => review(`${AUTHENTICATION}/tokenreviews`, 'TokenReview', spec);
  const access = (spec: object) =>
    review(`${AUTHORIZATION}/subjectaccessreviews`, 'SubjectAccessReview', spec);

  it('know the server’s own token, and whose it is', async () => {
    expect(await token({ token: TOKEN })).toEqual({
      code: 201,
      answer: {
        kind: 'TokenReview',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: { creationTimestamp: null },
        spec: { token: TOKEN },
        status: {
          authenticated: true,
          user: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
          audiences: [AUDIENCE],
        },
      },
    });
  });

  it.each([
    ['another token', { token: `${TOKEN}x` }],
    ['a token behind another word', { token: `x ${TOKEN}` }],
    ['the token for somebody else', { token: TOKEN, audiences: ['https://elsewhere'] }],
  ])('know nobody by %s', async (_what, spec) => {
    const { answer, code } = await token(spec);
    expect(code).toBe(201);
    expect(answer.status).toEqual({ user: {}, error: 'invalid bearer token' });
  });

  it('take the token for its audience among others', async () => {
    const { answer } = await token({ token: TOKEN, audiences: ['https://elsewhere', AUDIENCE] });
    expect(answer.status).toMatchObject({ authenticated: true, audiences: [AUDIENCE] });
  });

  it('let masters do everything, and nobody else what no role allows', async () => {
    const nonResource = { nonResourceAttributes: { path: '/admin/status', verb: 'get' } };
    for (const asked of [attributes, nonResource]) {
      expect((await access({ ...asked, groups: ['system:masters'] })).answer.status.allowed).toBe(true);
      expect((await access({ ...asked, user: 'eve', groups: ['staff'] })).answer.status.allowed).toBe(false);
    }
    const local = `${AUTHORIZATION}/namespaces/default/localsubjectaccessreviews`;
    expect(
      (await review(local, 'LocalSubjectAccessReview', { ...attributes, user: 'eve' })).answer,
    ).toMatchObject({
      metadata: { namespace: 'default' },
      status: { allowed: false },
    });
  });

  it('tell who asks what they are and may do', async () => {
    const self = await review(
      `${AUTHORIZATION}/selfsubjectaccessreviews`,
      'SelfSubjectAccessReview',
      attributes,
    );
    expect(self.answer).toMatchObject({ spec: attributes, status: { allowed: true } });
    const who = await review(`${AUTHENTICATION}/selfsubjectreviews`, 'SelfSubjectReview');
    expect(Date.parse(who.answer.metadata.creationTimestamp as string)).not.toBeNaN();
    expect(who.answer.status).toEqual({
      userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
    });
    const rules = await review(`${AUTHORIZATION}/selfsubjectrulesreviews`, 'SelfSubjectRulesReview', {
      namespace: 'default',
    });
    expect(rules.answer.status).toMatchObject({ incomplete: false });
    const { nonResourceRules, resourceRules } = rules.answer.status;
    expect(resourceRules).toContainEqual({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
    expect(nonResourceRules).toContainEqual({ verbs: ['*'], nonResourceURLs: ['*'] });
  });

  it('refuse what asks nothing, in the words of a genuine server', async () => {
    const local = `${AUTHORIZATION}/namespaces/default/localsubjectaccessreviews`;
    const refusals: readonly [Promise<{ code: number; answer: Body }>, number, string][] = [
      [token({}), 400, 'token is required for TokenReview in authentication'],
      [
        access({ user: 'eve' }),
        422,
        '.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ],
      [
        access(attributes),
        422,
        '.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified',
      ],
      [
        access({ ...attributes, user: 'eve', nonResourceAttributes: { path: '/', verb: 'get' } }),
        422,
        '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"path":"/","verb":"get"}: cannot be specified in combination with resourceAttributes',
      ],
      [
        review(local, 'LocalSubjectAccessReview', {
          user: 'eve',
          resourceAttributes: { namespace: 'other', verb: 'get', resource: 'pods' },
        }),
        422,
        '.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
      ],
      [
        review(`${AUTHORIZATION}/selfsubjectrulesreviews`, 'SelfSubjectRulesReview', {}),
        400,
        'no namespace on request',
      ],
      [
        review(`${AUTHORIZATION}/subjectaccessreviews`, 'SelfSubjectAccessReview', attributes),
        400,
        'SelfSubjectAccessReview in version "v1" cannot be handled as a SubjectAccessReview: converting (v1.SelfSubjectAccessReview) to (authorization.SubjectAccessReview): unknown conversion',
      ],
    ];
    for (const [refused, code, message] of refusals) {
      const { answer, code: given } = await refused;
      expect({ code: given, message: answer.message as string }).toEqual({ code, message });
    }
  });

  it('are for whoever has the token, can be created and nothing else, and are not kept', async () => {
    const path = `${AUTHENTICATION}/tokenreviews`;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: TOKEN } };
    const { status } = await server.call('POST', path, body, { authorization: 'Bearer guess' });
    expect(status).toBe(401);
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
      expect((await server.call(method, path)).status).toBe(405);
    for (const lost of [`${path}/x`, `${AUTHENTICATION}/namespaces/default/tokenreviews`])
      expect((await server.call('POST', lost, body)).status).toBe(404);
    expect((await server.call('POST', `${AUTHORIZATION}/localsubjectaccessreviews`, body)).status).toBe(404);
  });

  it('warn of fields that they have not got, and are strict where that is wanted', async () => {
    const body = { spec: { token: TOKEN, tokens: 1 } };
    const path = `${AUTHENTICATION}/tokenreviews`;
    const warned = await server.call('POST', path, body);
    expect(warned.headers.get('warning')).toContain('unknown field \\"spec.tokens\\"');
    expect((await server.call('POST', `${path}?fieldValidation=Strict`, body)).status).toBe(400);
  });

  it('are found by discovery, old and new', async () => {
    const names = [
      ['authentication.k8s.io', ['selfsubjectreviews', 'tokenreviews']],
      [
        'authorization.k8s.io',
        [
          'localsubjectaccessreviews',
          'selfsubjectaccessreviews',
          'selfsubjectrulesreviews',
          'subjectaccessreviews',
        ],
      ],
    ] as const;
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { body: all } = await server.call('GET', '/apis', undefined, { accept });
    for (const [group, resources] of names) {
      const { body: listed } = await server.call('GET', `/apis/${group}/v1`);
      expect(listed.resources.map(({ name }: Body) => name as string)).toEqual(resources);
      for (const { name, namespaced, verbs } of listed.resources as Body[])
        expect({ verbs, namespaced }).toEqual({
          verbs: ['create'],
          namespaced: String(name).startsWith('local'),
        });
      const found = all.items.find(({ metadata }: Body) => metadata.name === group);
      expect(found.versions[0].resources.map(({ resource }: Body) => resource as string)).toEqual(resources);
    }
  });

  describe('asked by an admin port', () => {
    let client: HttpApiClient;

    beforeAll(async () => {
      const clock = new SystemClock();
      const connection = await loadKubeconfig({ path: server.kubeconfig, clock });
      client = createHttpApiClient({ connection, clock, userAgent: 'test' });
    });
    afterAll(() => client.close());

    it('let in whoever has the server’s token, and nobody else', async () => {
      const accessBy = new DelegatedAccess({ client, clock: new SystemClock(), logger: silentLogger });
      const question = { verb: 'get', path: '/admin/status' };
      expect(await accessBy.judge({ ...question, token: TOKEN })).toEqual({
        verdict: 'allowed',
        user: 'admin',
      });
      expect(await accessBy.judge({ ...question, token: 'guess' })).toEqual({ verdict: 'unauthenticated' });
    });
  });
});
