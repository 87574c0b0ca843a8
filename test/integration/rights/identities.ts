import type { RunningApiServer } from '../api-server-harness.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const API_GROUP = 'rbac.authorization.k8s.io';

/** Service accounts of the namespace `mallory`, with the role that each is bound to, and where. */
const ACCOUNTS = {
  lister: { scope: 'mallory', kind: 'Role', role: 'lister' },
  nsadmin: { scope: 'mallory', kind: 'ClusterRole', role: 'admin' },
  nsstar: { scope: 'mallory', kind: 'Role', role: 'star' },
  reader: { scope: '', kind: 'ClusterRole', role: 'view' },
  named: { scope: 'mallory', kind: 'Role', role: 'named' },
} as const;

/** The names of the bindings, by account. */
const BINDINGS: Partial<Record<keyof typeof ACCOUNTS, string>> = { nsstar: 'star', reader: 'mallory-reader' };

const ROLES = {
  lister: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] }],
  star: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  named: [
    {
      apiGroups: ['', API_GROUP],
      resources: ['secrets', 'configmaps'],
      resourceNames: ['own'],
      verbs: ['*'],
    },
  ],
};

/** The contents of the Secrets of other namespaces, which no answer may show. */
export const CANARIES = ['ALICE-TOP-SECRET', 'ZOE-TOP-SECRET'];

export type Identity = keyof typeof ACCOUNTS | 'anon';

/** Makes the world that the recorded requests were sent to. Resolves with the token of each identity; `anon` has none. */
export async function putIdentities(server: RunningApiServer): Promise<ReadonlyMap<string, string>> {
  const create = async (path: string, body: object): Promise<void> => {
    const { status, text } = await server.call('POST', path, body);
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
  };
  for (const name of ['mallory', 'alice', 'zoe']) await create('/api/v1/namespaces', { metadata: { name } });
  await putSecrets(create);
  for (const [name, rules] of Object.entries(ROLES))
    await create(`${RBAC}/namespaces/mallory/roles`, { metadata: { name }, rules });
  await create('/api/v1/namespaces/alice/serviceaccounts', { metadata: { name: 'root' } });
  const tokens = new Map<string, string>();
  for (const [name, { kind, role, scope }] of Object.entries(ACCOUNTS)) {
    await create('/api/v1/namespaces/mallory/serviceaccounts', { metadata: { name } });
    await create(scope === '' ? `${RBAC}/clusterrolebindings` : `${RBAC}/namespaces/${scope}/rolebindings`, {
      metadata: { name: BINDINGS[name as keyof typeof ACCOUNTS] ?? name },
      roleRef: { apiGroup: API_GROUP, kind, name: role },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'mallory' }],
    });
    const path = `/api/v1/namespaces/mallory/serviceaccounts/${name}/token`;
    const { body } = await server.call('POST', path, { spec: {} });
    tokens.set(name, body.status.token as string);
  }
  return tokens;
}

async function putSecrets(create: (path: string, body: object) => Promise<void>): Promise<void> {
  const secrets = [
    ['alice', 'db', 'ALICE-TOP-SECRET'],
    ['zoe', 'db', 'ZOE-TOP-SECRET'],
    ['mallory', 'own', 'MALLORY-OWN'],
  ];
  for (const [namespace, name, password] of secrets)
    await create(`/api/v1/namespaces/${namespace}/secrets`, { metadata: { name }, stringData: { password } });
}
