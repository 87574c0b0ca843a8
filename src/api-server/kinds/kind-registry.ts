import { apiVersionOf } from '../../kubernetes/index.js';
import { DEPLOYMENT_KIND } from './deployment/deployment.kind.js';
import { EVENT_KIND } from './event/event.kind.js';
import type { KindDefinition, KindRegistry } from './kind-definition.js';
import { LEASE_KIND } from './lease/lease.kind.js';
import { NAMESPACE_KIND } from './namespace/namespace.kind.js';
import { NODE_KIND } from './node/node.kind.js';
import { POD_KIND } from './pod/pod.kind.js';
import { REPLICA_SET_KIND } from './replicaset/replicaset.kind.js';
import { SERVICE_ACCOUNT_KIND } from './service-account/service-account.kind.js';

const KINDS: readonly KindDefinition[] = [
  NAMESPACE_KIND,
  NODE_KIND,
  POD_KIND,
  EVENT_KIND,
  SERVICE_ACCOUNT_KIND,
  DEPLOYMENT_KIND,
  REPLICA_SET_KIND,
  LEASE_KIND,
];

/** The kinds that the embedded server has. */
export function createKindRegistry(kinds: readonly KindDefinition[] = KINDS): KindRegistry {
  const byPath = new Map(
    kinds.map((kind) => [`${kind.type.group}/${kind.type.version}/${kind.type.resource}`, kind]),
  );
  const byKind = new Map(kinds.map((kind) => [`${apiVersionOf(kind.type)}/${kind.type.kind}`, kind]));
  return {
    kinds,
    find: (group, version, resource) => byPath.get(`${group}/${version}/${resource}`),
    findByKind: (apiVersion, kind) => byKind.get(`${apiVersion}/${kind}`),
  };
}
