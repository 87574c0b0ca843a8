import { NAMESPACE } from '../seeds/index.js';
import { SAMPLE_NAME } from '../arbitraries/samples.js';
import type { FuzzedServer } from '../fuzzed-server.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const API_GROUP = 'rbac.authorization.k8s.io';

/** A user with rights in one namespace alone. */
export interface BoundedUser {
  readonly name: string;
  readonly token: string;
  readonly namespace: string;
  /** The ClusterRole, or the rules, that the user has there. */
  readonly rights: string | readonly object[];
}

const everything = { apiGroups: ['*'], resources: ['*'] };

export const USERS: readonly BoundedUser[] = [
  user('star', [{ ...everything, verbs: ['*'] }]),
  user('admin', 'admin'),
  user('reader', [{ ...everything, verbs: ['get', 'list', 'watch'] }]),
  user('named', [{ ...everything, resourceNames: [SAMPLE_NAME], verbs: ['*'] }]),
  user('writer', [{ ...everything, verbs: ['create', 'update', 'patch', 'deletecollection'] }]),
];

function user(name: string, rights: BoundedUser['rights']): BoundedUser {
  return { name, token: `token-of-${name}`, namespace: `${NAMESPACE}-${name}`, rights };
}

/** The text of the file for `--token-auth-file`. */
export function tokenFile(): string {
  return USERS.map(({ name, token }) => `${token},${name},${name}\n`).join('');
}

export async function putUsers(server: FuzzedServer): Promise<void> {
  for (const { name, namespace, rights } of USERS) {
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    const isRole = typeof rights !== 'string';
    if (isRole)
      await server.call('POST', `${RBAC}/namespaces/${namespace}/roles`, {
        metadata: { name },
        rules: rights,
      });
    await server.call('POST', `${RBAC}/namespaces/${namespace}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: API_GROUP, kind: isRole ? 'Role' : 'ClusterRole', name: isRole ? name : rights },
      subjects: [{ apiGroup: API_GROUP, kind: 'User', name }],
    });
  }
}
