import { DEPLOYMENT_KIND } from './apps/deployment/deployment.kind.js';
import { REPLICA_SET_KIND } from './apps/replicaset/replicaset.kind.js';
import { LEASE_KIND } from './coordination/lease.kind.js';
import { EVENT_KIND } from './core/event/event.kind.js';
import { NAMESPACE_KIND } from './core/namespace.kind.js';
import { NODE_KIND } from './core/node/node.kind.js';
import { POD_KIND } from './core/pod/pod.kind.js';
import { SERVICE_ACCOUNT_KIND } from './core/service-account.kind.js';
import type { KindDefinition } from './kind-definition.js';

/** In the order in which discovery shows them. */
export const BUILT_IN_KINDS: readonly KindDefinition[] = [
  NAMESPACE_KIND,
  NODE_KIND,
  POD_KIND,
  EVENT_KIND,
  SERVICE_ACCOUNT_KIND,
  DEPLOYMENT_KIND,
  REPLICA_SET_KIND,
  LEASE_KIND,
];
