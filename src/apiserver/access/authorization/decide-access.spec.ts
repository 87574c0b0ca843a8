import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import { ADMIN } from '../auth/index.js';
import type { UserInfo } from '../auth/index.js';
import type { ResourceAttributes } from '../../cel/library/access-attributes.js';
import { decideAccess, describeRefusal } from './decide-access.js';
import { decideEscalation } from './decide-escalation.js';
import { Policy } from './policy.js';
import type { PolicyRule } from './policy-rule.js';

const jane: UserInfo = { username: 'jane', groups: ['dev', 'system:authenticated'] };
const app: UserInfo = { username: 'system:serviceaccount:shop:app', groups: ['system:serviceaccounts'] };
const READ_PODS: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] };

function list(over: Partial<ResourceAttributes> = {}): ResourceAttributes {
  return { verb: 'list', group: '', resource: 'pods', subresource: '', namespace: 'shop', name: '', ...over };
}

class TestPolicy extends Policy {
  role(name: string, rules: PolicyRule[], namespace = ''): this {
    const resource = namespace === '' ? 'clusterroles' : 'roles';
    this.put(keyOf(resource, name, namespace), anObject({ name, namespace }, { rules }));
    return this;
  }

  bind(name: string, role: string, subject: object, namespace = ''): this {
    const [kind, roleName] = role.split('/');
    const resource = namespace === '' ? 'clusterrolebindings' : 'rolebindings';
    const content = { roleRef: { kind, name: roleName }, subjects: [subject] };
    this.put(keyOf(resource, name, namespace), anObject({ name, namespace }, content));
    return this;
  }

  unbind(name: string): void {
    this.put(keyOf('clusterrolebindings', name, ''), undefined);
  }
}

function keyOf(resource: string, name: string, namespace: string) {
  return { resource: `${resource}.rbac.authorization.k8s.io`, namespace, name };
}

function anObject(metadata: { name: string; namespace: string }, content: object): UnstructuredObject {
  const { name, namespace } = metadata;
  return { apiVersion: 'v1', kind: 'X', metadata: { name, ...(namespace && { namespace }) }, ...content };
}

describe('access', () => {
  it('is granted to masters, even if no role grants it', () => {
    const policy = new Policy();
    expect(decideAccess(ADMIN, list(), policy).allowed).toBe(true);
    expect(decideAccess({ username: 'x', groups: ['system:masters'] }, list(), policy).allowed).toBe(true);
    expect(decideAccess(jane, list(), policy)).toEqual({ allowed: false, reason: '' });
  });

  it('by a ClusterRoleBinding is everywhere, and names the binding', () => {
    const policy = new TestPolicy()
      .role('r', [READ_PODS])
      .bind('b', 'ClusterRole/r', { kind: 'Group', name: 'dev' });
    expect(decideAccess(jane, list({ namespace: '' }), policy)).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "dev"',
    });
    expect(decideAccess(jane, list(), policy).allowed).toBe(true);
    policy.unbind('b');
    expect(decideAccess(jane, list(), policy).allowed).toBe(false);
  });

  it('by a RoleBinding is in its namespace alone, of a Role or a ClusterRole', () => {
    const user = { kind: 'User', name: 'jane' };
    const policy = new TestPolicy()
      .role('r', [READ_PODS])
      .role('r', [{ ...READ_PODS, resources: ['secrets'] }], 'shop')
      .bind('b', 'ClusterRole/r', user, 'shop')
      .bind('c', 'Role/r', user, 'shop');
    expect(decideAccess(jane, list(), policy).reason).toBe(
      'RBAC: allowed by RoleBinding "b/shop" of ClusterRole "r" to User "jane"',
    );
    expect(decideAccess(jane, list({ resource: 'secrets' }), policy).allowed).toBe(true);
    expect(decideAccess(jane, list({ namespace: 'other' }), policy).allowed).toBe(false);
    expect(decideAccess(jane, list({ namespace: '' }), policy).allowed).toBe(false);
  });

  it('gives a service account without a namespace the one of the binding', () => {
    const account = { kind: 'ServiceAccount', name: 'app' };
    const policy = new TestPolicy()
      .role('r', [READ_PODS])
      .bind('b', 'ClusterRole/r', account, 'shop')
      .bind('everywhere', 'ClusterRole/r', account);
    expect(decideAccess(app, list(), policy).reason).toContain('to ServiceAccount "app/shop"');
    expect(decideAccess(app, list({ namespace: 'other' }), policy).allowed).toBe(false);
  });

  it('by a role that does not exist is refused, saying so', () => {
    const policy = new TestPolicy().bind('b', 'ClusterRole/nope', { kind: 'User', name: 'jane' });
    const { allowed, reason } = decideAccess(jane, list({ group: 'apps', resource: 'deployments' }), policy);
    expect(allowed).toBe(false);
    expect(describeRefusal(jane, list({ group: 'apps', resource: 'deployments' }), reason)).toBe(
      'User "jane" cannot list resource "deployments" in API group "apps" in the namespace "shop": RBAC: clusterrole.rbac.authorization.k8s.io "nope" not found',
    );
  });

  it('is asked for a path or the whole cluster as well', () => {
    expect(describeRefusal(jane, { path: '/metrics', verb: 'get' }, '')).toBe(
      'User "jane" cannot get path "/metrics"',
    );
    expect(describeRefusal(jane, list({ namespace: '', subresource: 'log' }), '')).toBe(
      'User "jane" cannot list resource "pods/log" in API group "" at the cluster scope',
    );
  });
});

describe('escalation by roles and bindings', () => {
  const RBAC = ['rbac.authorization.k8s.io'];
  const base = { user: jane, namespace: 'shop', name: 'new' };
  const policy = new TestPolicy()
    .role('reader', [READ_PODS])
    .role('root', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])
    .bind('b', 'ClusterRole/reader', { kind: 'User', name: 'jane' }, 'shop');
  const role = (rules: PolicyRule[]) => anObject({ name: 'new', namespace: 'shop' }, { rules });
  const binding = (name: string) =>
    anObject({ name: 'new', namespace: 'shop' }, { roleRef: { kind: 'ClusterRole', name }, subjects: [] });

  it('gives away what they have, and nothing else', () => {
    const verdictOf = (object: UnstructuredObject, resource: string) =>
      decideEscalation({ ...base, resource, object }, policy);
    expect(verdictOf(role([READ_PODS]), 'roles')).toEqual({ verdict: 'allowed' });
    expect(verdictOf(role([{ ...READ_PODS, verbs: ['get', 'delete'] }]), 'roles')).toEqual({
      verdict: 'escalation',
      problem:
        'user "jane" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
    });
    expect(verdictOf(binding('reader'), 'rolebindings').verdict).toBe('allowed');
    expect(verdictOf(binding('root'), 'rolebindings').verdict).toBe('escalation');
    expect(verdictOf(binding('nope'), 'rolebindings').verdict).toBe('missing role');
  });

  it('may do more by the verbs bind and escalate', () => {
    const verbs = new TestPolicy()
      .role('root', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])
      .role('binder', [
        { apiGroups: RBAC, resources: ['clusterroles'], verbs: ['bind'], resourceNames: ['root'] },
      ])
      .role('reader', [READ_PODS])
      .role('escalator', [{ apiGroups: RBAC, resources: ['roles'], verbs: ['escalate'] }])
      .bind('b', 'ClusterRole/binder', { kind: 'Group', name: 'dev' })
      .bind('c', 'ClusterRole/escalator', { kind: 'Group', name: 'dev' });
    expect(
      decideEscalation({ ...base, resource: 'rolebindings', object: binding('root') }, verbs).verdict,
    ).toBe('allowed');
    expect(
      decideEscalation({ ...base, resource: 'rolebindings', object: binding('reader') }, verbs).verdict,
    ).toBe('escalation');
    expect(decideEscalation({ ...base, resource: 'roles', object: role([READ_PODS]) }, verbs).verdict).toBe(
      'allowed',
    );
    expect(
      decideEscalation({ ...base, resource: 'clusterroles', object: role([READ_PODS]) }, verbs).verdict,
    ).toBe('escalation');
  });

  it('may take finalizers off a role that they could not write', () => {
    const old = role([{ ...READ_PODS, verbs: ['*'] }]);
    const object = { ...old, metadata: { ...old.metadata, finalizers: [] } };
    const write = { ...base, resource: 'roles', object };
    expect(decideEscalation({ ...write, old }, policy).verdict).toBe('allowed');
    expect(decideEscalation(write, policy).verdict).toBe('escalation');
  });

  it('lets an aggregated ClusterRole give away everything', () => {
    const object = { ...role([]), aggregationRule: { clusterRoleSelectors: [] } };
    expect(decideEscalation({ ...base, resource: 'clusterroles', object }, policy).verdict).toBe(
      'escalation',
    );
  });
});
