/** The names of before, for files that are being moved. */
export {
  Deployment as DEPLOYMENTS,
  RollkeeperDeployment as ROLLKEEPER_DEPLOYMENTS,
  ReplicaSet as REPLICA_SETS,
  Pod as PODS,
  PersistentVolume as PERSISTENT_VOLUMES,
  PersistentVolumeClaim as PERSISTENT_VOLUME_CLAIMS,
  StorageClass as STORAGE_CLASSES,
  Service as SERVICES,
  ServiceAccount as SERVICE_ACCOUNTS,
  Namespace as NAMESPACES,
  ConfigMap as CONFIG_MAPS,
  Job as JOBS,
  Node as NODES,
  Lease as LEASES,
  LeaseCandidate as LEASE_CANDIDATES,
} from './kinds.js';
export { Event as EVENTS, ResourceQuota as RESOURCE_QUOTAS } from './kinds.js';
