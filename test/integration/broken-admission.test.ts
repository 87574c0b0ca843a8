import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { MemoryStorage, RedisStorage } from '../../src/apiserver/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { startApiServer } from './api-server-harness.js';
import type { RunningApiServer } from './api-server-harness.js';

const GROUP = 'admissionregistration.k8s.io';
const MAPS = '/api/v1/namespaces/default/configmaps';
const SECRETS = '/api/v1/namespaces/default/secrets';
const RULES = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
/** A requirement that a writer past the API may have made. */
const UNKNOWN = { matchExpressions: [{ key: 'a', operator: 'Like', values: ['b'] }] };
const WHOLE = {
  name: 'a.b.c',
  clientConfig: { url: 'https://127.0.0.1:1/' },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  rules: RULES,
};
const POLICY = { matchConstraints: { resourceRules: RULES }, validations: [{ expression: 'true' }] };
const BINDING = { policyName: 'p', validationActions: ['Warn'] };

type Planted = readonly [resource: string, kind: string, name: string, fields: object];

const mutating = (...webhooks: unknown[]): Planted => [
  'mutatingwebhookconfigurations',
  'MutatingWebhookConfiguration',
  'broken',
  { webhooks },
];
const validating = (...webhooks: unknown[]): Planted => [
  'validatingwebhookconfigurations',
  'ValidatingWebhookConfiguration',
  'broken',
  { webhooks },
];
const policy = (spec: unknown): Planted => [
  'validatingadmissionpolicies',
  'ValidatingAdmissionPolicy',
  'p',
  { spec },
];
const binding = (spec: unknown): Planted =>
  ['validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', 'b', { spec }]; // prettier-ignore

const NOT_READY = /not yet ready to handle request: \w+WebhookConfiguration "broken" in the store/;
const POLICY_FAILS = /'p' with binding 'b' denied request: failed to configure policy/;
const BINDING_FAILS = /'p' with binding 'b' denied request: failed to configure binding/;

let server: RunningApiServer | undefined;
afterEach(() => server?.stop());

/** The answer to a client that creates an object. */
async function creating(path: string): Promise<string> {
  const { body, status } = await server!.call('POST', path, { metadata: { generateName: 'one-' } });
  return status === 201 ? 'created' : `${status} ${String(body.message)}`;
}

async function startWith(...planted: readonly Planted[]): Promise<string[]> {
  const storage = new MemoryStorage({ clock: new SystemClock() });
  for (const [resource, kind, name, fields] of planted) {
    const object = { apiVersion: `${GROUP}/v1`, kind, metadata: { name, uid: name }, ...fields };
    await storage.create({ resource: `${resource}.${GROUP}`, namespace: '', name }, object);
  }
  server = await startApiServer({ storage });
  return planted.map(([resource, , name]) => `/apis/${GROUP}/v1/${resource}/${name}`);
}

describe('admission that cannot be understood', () => {
  it.each<[string, readonly Planted[], RegExp]>([
    ['a mutating webhook with another type', [mutating({ ...WHOLE, name: 5 })], NOT_READY],
    ['a validating webhook with another type', [validating({ ...WHOLE, timeoutSeconds: 'x' })], NOT_READY],
    ['a webhook without what it is called by', [validating({ ...WHOLE, admissionReviewVersions: undefined })], NOT_READY],
    ['a selector that is not known', [mutating({ ...WHOLE, namespaceSelector: UNKNOWN })], NOT_READY],
    ['a policy with another type', [policy({ ...POLICY, validations: [null] }), binding(BINDING)], POLICY_FAILS],
    ['a policy with an unknown selector', [policy({ ...POLICY, matchConstraints: { ...POLICY.matchConstraints, objectSelector: UNKNOWN } }), binding(BINDING)], POLICY_FAILS],
    ['a binding with another type', [policy(POLICY), binding({ ...BINDING, validationActions: 5 })], BINDING_FAILS],
    ['a binding with an unknown selector', [policy(POLICY), binding({ ...BINDING, matchResources: { namespaceSelector: UNKNOWN } })], BINDING_FAILS],
    ['a binding of which nothing can be read', [policy(POLICY), binding([])], BINDING_FAILS],
    ['a policy and its binding', [policy({ ...POLICY, validations: 5 }), binding(5)], BINDING_FAILS],
  ])('refuses what it may be for until it is gone, and nothing else: %s', async (_case, planted, message) => {
    const paths = await startWith(...planted);
    expect(await creating(MAPS)).toMatch(message);
    expect(await creating(SECRETS)).toBe('created');
    expect((await server!.call('GET', '/readyz?verbose')).text).toContain('[!]objects: ');
    for (const path of paths.reverse()) expect((await server!.call('DELETE', path)).status).toBe(200);
    expect(await creating(MAPS)).toBe('created');
  }); // prettier-ignore

  it.each<[string, readonly Planted[]]>([
    ['a webhook', [mutating({ ...WHOLE, name: 5, failurePolicy: 'Ignore' })]],
    ['a policy', [policy({ ...POLICY, failurePolicy: 'Ignore', validations: 5 }), binding(BINDING)]],
    ['the policy of a binding', [policy({ ...POLICY, failurePolicy: 'Ignore' }), binding(5)]],
    ['a policy without a binding', [policy({ ...POLICY, validations: 5 })]],
    ['a binding of no policy', [binding({ ...BINDING, validationActions: 5 })]],
  ])('lets pass what it may not refuse: %s', async (_case, planted) => {
    await startWith(...planted);
    expect(await creating(MAPS)).toBe('created');
  }); // prettier-ignore

  it('refuses everything but what puts it right where it is no JSON, and is put right while the server runs', async () => {
    const keyPrefix = `broken-${randomUUID()}:`;
    const aStorage = () => new RedisStorage({ url: inject('redisUrl'), keyPrefix });
    server = await startApiServer({ storage: aStorage() });
    const { body } = await server.call('POST', SECRETS, { metadata: { name: 'first' } });
    await server.stop();
    const redis = new Redis(inject('redisUrl'));
    const base = `${keyPrefix}{storage}:`;
    const resource = `validatingwebhookconfigurations.${GROUP}`;
    await redis.hset(`${base}objects:${resource}`, '\0broken', `${body.metadata.resourceVersion} {"webhooks":`);
    await redis.zadd(`${base}index:${resource}`, 0, '\0broken');
    redis.disconnect();

    server = await startApiServer({ storage: aStorage() });
    expect(await creating(SECRETS)).toMatch(NOT_READY);
    expect((await server.call('DELETE', `${SECRETS}/first`)).status).toBe(403);
    expect((await server.call('GET', SECRETS)).status).toBe(200);
    const configurations = `/apis/${GROUP}/v1/validatingwebhookconfigurations`;
    expect((await server.call('POST', configurations, { metadata: { name: 'other' }, webhooks: [] })).status).toBe(201);
    expect((await server.call('DELETE', `${configurations}/broken`)).status).toBe(200);
    await waitFor(async () => (await creating(SECRETS)) === 'created');
  }); // prettier-ignore
});
