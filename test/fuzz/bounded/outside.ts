import type { FuzzedApi } from '../arbitraries/api.js';
import type { FuzzedServer } from '../fuzzed-server.js';
import { NAMESPACE } from '../seeds/index.js';
import { OTHERS } from './canaries.js';
import { USERS } from './users.js';

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const VERBS = [
  'get',
  'list',
  'create',
  'update',
  'delete',
  'deletecollection',
  'escalate',
  'bind',
  'impersonate',
];
const RESOURCES: readonly (readonly [string, string])[] = [
  ['', 'secrets'],
  ['', 'pods'],
  ['', 'namespaces'],
  ['', 'nodes'],
  ['', 'serviceaccounts'],
  ['', 'users'],
  ['apps', 'deployments'],
  ['rbac.authorization.k8s.io', 'roles'],
  ['rbac.authorization.k8s.io', 'clusterrolebindings'],
  ['certificates.k8s.io', 'certificatesigningrequests'],
];

/** The bystander, whose object changes all the time. */
export const BYSTANDER = {
  namespace: 'bystander',
  name: 'mine',
  path: '/apis/coordination.k8s.io/v1/namespaces/bystander/leases/mine',
};

interface Listed {
  readonly items: readonly {
    readonly metadata: {
      readonly name: string;
      readonly namespace?: string;
      readonly resourceVersion: string;
    };
  }[];
}

/**
 * The objects that no bounded user may change: all that are in none of their namespaces, by path, with their
 * versions.
 */
export async function objectsOutside(
  server: FuzzedServer,
  { resources }: FuzzedApi,
): Promise<ReadonlyMap<string, string>> {
  const own = new Set([...USERS.map(({ namespace }) => namespace), BYSTANDER.namespace]);
  const found = new Map<string, string>();
  // Measured values change by themselves.
  const stored = resources.filter(
    ({ apiVersion, verbs }) => verbs.includes('list') && !apiVersion.startsWith('metrics.'),
  );
  for (const { path } of stored) {
    const { items } = (await server.call('GET', path.replace(`/namespaces/${NAMESPACE}`, ''))) as Listed;
    for (const { metadata } of items) {
      const { name, namespace = '', resourceVersion } = metadata;
      const isOwn = own.has(namespace) || (path === '/api/v1/namespaces' && own.has(name));
      if (!isOwn) found.set(`${path} ${namespace}/${name}`, resourceVersion);
    }
  }
  return found;
}

/** The rights of each user, at home, elsewhere and in the cluster: `user verb resource namespace`. */
export async function rightsOfUsers(server: FuzzedServer): Promise<ReadonlySet<string>> {
  const rights = new Set<string>();
  for (const { name: user, namespace: home, token } of USERS)
    for (const namespace of [home, OTHERS[0]!, OTHERS.at(-1)!, ''])
      for (const [group, resource] of RESOURCES)
        for (const verb of VERBS) {
          const resourceAttributes = { group, namespace, resource, verb };
          const answer = await server.send({
            method: 'POST',
            path: REVIEWS,
            headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
            body: JSON.stringify({ spec: { resourceAttributes } }),
          });
          const { status } = JSON.parse(answer.text) as { status: { allowed: boolean } };
          if (status.allowed) rights.add([user, verb, `${resource}.${group}`, namespace].join(' '));
        }
  return rights;
}

/** Describes the differences in words. */
export function changes(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all]
    .filter((key) => before.get(key) !== after.get(key))
    .map((key) =>
      before.has(key) ? (after.has(key) ? `${key} changed` : `${key} is gone`) : `${key} is new`,
    );
}
