import type { ClusterRole, RoleBinding, RoleRef, Subject } from '@rollkeeper/machinery/types/rbac-v1';
import { objectOfKind } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { usernameOfAccount } from '../auth/index.js';
import type { UserInfo } from '../auth/index.js';
import type { PolicyRule } from './policy-rule.js';

/** A role granted by a binding. */
export interface Grant {
  readonly binding: Binding;
  readonly subject: Subject;
  /** Absent: the role does not exist. */
  readonly rules: readonly PolicyRule[] | undefined;
}

/** A RoleBinding, or with an empty namespace a ClusterRoleBinding. */
interface Binding {
  readonly name: string;
  readonly namespace: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
}

/** The roles and bindings that a decision needs. */
export interface PolicyView {
  /** A user's grants everywhere, then those in `namespace`, unless it is empty. */
  grantsTo(user: UserInfo, namespace: string): Iterable<Grant>;
  /** The rules of a role as a binding in `namespace` (empty: a ClusterRoleBinding) names it; absent: there is none. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined;
}

export const CLUSTER_ROLES = 'clusterroles.rbac.authorization.k8s.io';
/** The resources that a policy is made of, qualified. */
export const POLICY_RESOURCES = [
  CLUSTER_ROLES,
  'clusterrolebindings.rbac.authorization.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
] as const;

type Role = ClusterRole & KubernetesObject;
type BindingObject = RoleBinding & KubernetesObject;

/** All roles and bindings, indexed by whom they are for: a decision looks at what concerns its user alone. */
export class Policy implements PolicyView {
  /** By `namespace/name`; of ClusterRoles the namespace is empty. */
  private readonly roles = new Map<string, Role>();
  private readonly bindings = new Map<string, Binding>();
  /** By namespace and subject. */
  private readonly bySubject = new Map<string, Map<Binding, Subject>>();

  /** Takes over a new state of a role or binding; `undefined`: it was deleted. */
  put(
    { resource, namespace, name }: { resource: string; namespace: string; name: string },
    object: KubernetesObject | undefined,
  ): void {
    const key = `${namespace}/${name}`;
    if (resource === CLUSTER_ROLES || resource === POLICY_RESOURCES[2]) {
      if (object) this.roles.set(key, objectOfKind(object));
      else this.roles.delete(key);
      return;
    }
    const old = this.bindings.get(key);
    this.bindings.delete(key);
    if (old) this.unlink(old);
    if (!object) return;
    const {
      roleRef,
      subjects = [],
    }: KubernetesObject & Partial<Pick<BindingObject, 'roleRef' | 'subjects'>> = object;
    if (!roleRef) throw new TypeError('a binding names a role');
    const binding = { name, namespace, roleRef, subjects };
    this.link(binding);
    this.bindings.set(key, binding);
  }

  clusterRole(name: string): Role | undefined {
    return this.roles.get(`/${name}`);
  }

  clusterRoles(): Role[] {
    return [...this.roles.values()].filter(({ metadata }) => !metadata.namespace);
  }

  *grantsTo(user: UserInfo, namespace: string): Iterable<Grant> {
    const names = [userKey(user.username), ...user.groups.map(groupKey)];
    const seen = new Set<Binding>();
    for (const scope of namespace === '' ? [''] : ['', namespace])
      for (const name of names)
        for (const [binding, subject] of this.bySubject.get(`${scope}/${name}`) ?? []) {
          if (seen.has(binding)) continue;
          seen.add(binding);
          yield { binding, subject, rules: this.rulesOf(binding.roleRef, binding.namespace) };
        }
  }

  rulesOf({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const role = this.roles.get(`${kind === 'ClusterRole' ? '' : namespace}/${name}`);
    return role && (role.rules ?? []);
  }

  private link(binding: Binding): void {
    for (const subject of binding.subjects) {
      const key = subjectKey(subject, binding.namespace);
      if (key === undefined) continue;
      const linked = this.bySubject.get(key) ?? new Map<Binding, Subject>();
      this.bySubject.set(key, linked);
      if (!linked.has(binding)) linked.set(binding, subject);
    }
  }

  private unlink(binding: Binding): void {
    for (const subject of binding.subjects) {
      const key = subjectKey(subject, binding.namespace);
      const linked = key === undefined ? undefined : this.bySubject.get(key);
      linked?.delete(binding);
      if (linked?.size === 0) this.bySubject.delete(key!);
    }
  }
}

/** A service account without a namespace is that of the binding's namespace, if it has one. */
function subjectKey({ kind, name, namespace }: Subject, scope: string): string | undefined {
  if (kind === 'User') return `${scope}/${userKey(name)}`;
  if (kind === 'Group') return `${scope}/${groupKey(name)}`;
  const home = namespace ?? scope;
  if (kind !== 'ServiceAccount' || home === '') return undefined;
  return `${scope}/${userKey(usernameOfAccount({ namespace: home, name }))}`;
}

const userKey = (name: string): string => `user:${name}`;
const groupKey = (name: string): string => `group:${name}`;
