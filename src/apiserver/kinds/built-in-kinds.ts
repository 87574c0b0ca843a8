import {
  VALIDATING_ADMISSION_POLICY_BINDING_KIND,
  VALIDATING_ADMISSION_POLICY_KIND,
} from './admissionregistration/admission-policies.kinds.js';
import {
  MUTATING_ADMISSION_POLICY_BINDING_KIND,
  MUTATING_ADMISSION_POLICY_KIND,
} from './admissionregistration/mutating-policies.kinds.js';
import {
  MUTATING_WEBHOOK_CONFIGURATION_KIND,
  VALIDATING_WEBHOOK_CONFIGURATION_KIND,
} from './admissionregistration/webhook-configurations.kinds.js';
import { CUSTOM_RESOURCE_DEFINITION_KIND } from './apiextensions/custom-resource-definition.kind.js';
import { API_SERVICE_KIND } from './apiregistration/api-service.kind.js';
import { CONTROLLER_REVISION_KIND } from './apps/controller-revision.kind.js';
import { DAEMON_SET_KIND } from './apps/daemon-set.kind.js';
import { DEPLOYMENT_KIND } from './apps/deployment/deployment.kind.js';
import { REPLICA_SET_KIND } from './apps/replicaset/replicaset.kind.js';
import { STATEFUL_SET_KIND } from './apps/stateful-set.kind.js';
import {
  HORIZONTAL_POD_AUTOSCALER_KIND,
  HORIZONTAL_POD_AUTOSCALER_V1_KIND,
} from './autoscaling/horizontal-pod-autoscaler.kind.js';
import { CRON_JOB_KIND } from './batch/cron-job.kind.js';
import { JOB_KIND } from './batch/job.kind.js';
import { CERTIFICATE_SIGNING_REQUEST_KIND } from './certificates/certificate-signing-request.kind.js';
import { LEASE_KIND } from './coordination/lease.kind.js';
import { CONFIG_MAP_KIND } from './core/config-map.kind.js';
import { ENDPOINTS_KIND } from './core/endpoints.kind.js';
import { EVENT_KIND } from './core/event/event.kind.js';
import { LIMIT_RANGE_KIND } from './core/limit-range.kind.js';
import { NAMESPACE_KIND } from './core/namespace.kind.js';
import { NODE_KIND } from './core/node/node.kind.js';
import { PERSISTENT_VOLUME_CLAIM_KIND } from './core/persistent-volume-claim.kind.js';
import { PERSISTENT_VOLUME_KIND } from './core/persistent-volume/persistent-volume.kind.js';
import { POD_TEMPLATE_KIND } from './core/pod-template.kind.js';
import { POD_KIND } from './core/pod/pod.kind.js';
import { REPLICATION_CONTROLLER_KIND } from './core/replication-controller.kind.js';
import { RESOURCE_QUOTA_KIND } from './core/resource-quota.kind.js';
import { SECRET_KIND } from './core/secret.kind.js';
import { SERVICE_ACCOUNT_KIND } from './core/service-account.kind.js';
import { SERVICE_KIND } from './core/service/service.kind.js';
import { ENDPOINT_SLICE_KIND } from './discovery/endpoint-slice.kind.js';
import { EVENT_VIEW_KIND } from './events/event-view.kind.js';
import { FLOW_SCHEMA_KIND, PRIORITY_LEVEL_CONFIGURATION_KIND } from './flowcontrol/flow-control.kinds.js';
import type { KindDefinition } from './kind-definition.js';
import { INGRESS_CLASS_KIND } from './networking/ingress-class.kind.js';
import { INGRESS_KIND } from './networking/ingress.kind.js';
import { NETWORK_POLICY_KIND } from './networking/network-policy.kind.js';
import { IP_ADDRESS_KIND, SERVICE_CIDR_KIND } from './networking/service-addresses.kinds.js';
import { RUNTIME_CLASS_KIND } from './node-api/runtime-class.kind.js';
import { POD_DISRUPTION_BUDGET_KIND } from './policy/pod-disruption-budget.kind.js';
import { CLUSTER_ROLE_BINDING_KIND, ROLE_BINDING_KIND } from './rbac/role-bindings.kinds.js';
import { CLUSTER_ROLE_KIND, ROLE_KIND } from './rbac/roles.kinds.js';
import { DEVICE_CLASS_KIND } from './resource/device-class.kind.js';
import { RESOURCE_CLAIM_KIND, RESOURCE_CLAIM_TEMPLATE_KIND } from './resource/resource-claim.kinds.js';
import { RESOURCE_SLICE_KIND } from './resource/resource-slice.kind.js';
import { PRIORITY_CLASS_KIND } from './scheduling/priority-class.kind.js';
import { STORAGE_CLASS_KIND, VOLUME_ATTRIBUTES_CLASS_KIND } from './storage/classes.kinds.js';
import { CSI_DRIVER_KIND, CSI_NODE_KIND, CSI_STORAGE_CAPACITY_KIND } from './storage/csi.kinds.js';
import { VOLUME_ATTACHMENT_KIND } from './storage/volume-attachment.kind.js';

/** In the order in which discovery shows them; of several versions of a group, the preferred one first. */
export const BUILT_IN_KINDS: readonly KindDefinition[] = [
  CONFIG_MAP_KIND,
  ENDPOINTS_KIND,
  EVENT_KIND,
  LIMIT_RANGE_KIND,
  NAMESPACE_KIND,
  NODE_KIND,
  PERSISTENT_VOLUME_CLAIM_KIND,
  PERSISTENT_VOLUME_KIND,
  POD_KIND,
  POD_TEMPLATE_KIND,
  REPLICATION_CONTROLLER_KIND,
  RESOURCE_QUOTA_KIND,
  SECRET_KIND,
  SERVICE_ACCOUNT_KIND,
  SERVICE_KIND,
  CONTROLLER_REVISION_KIND,
  DAEMON_SET_KIND,
  DEPLOYMENT_KIND,
  REPLICA_SET_KIND,
  STATEFUL_SET_KIND,
  EVENT_VIEW_KIND,
  HORIZONTAL_POD_AUTOSCALER_KIND,
  HORIZONTAL_POD_AUTOSCALER_V1_KIND,
  CRON_JOB_KIND,
  JOB_KIND,
  CERTIFICATE_SIGNING_REQUEST_KIND,
  INGRESS_CLASS_KIND,
  INGRESS_KIND,
  IP_ADDRESS_KIND,
  NETWORK_POLICY_KIND,
  SERVICE_CIDR_KIND,
  POD_DISRUPTION_BUDGET_KIND,
  CLUSTER_ROLE_BINDING_KIND,
  CLUSTER_ROLE_KIND,
  ROLE_BINDING_KIND,
  ROLE_KIND,
  DEVICE_CLASS_KIND,
  RESOURCE_CLAIM_KIND,
  RESOURCE_CLAIM_TEMPLATE_KIND,
  RESOURCE_SLICE_KIND,
  CSI_DRIVER_KIND,
  CSI_NODE_KIND,
  CSI_STORAGE_CAPACITY_KIND,
  STORAGE_CLASS_KIND,
  VOLUME_ATTACHMENT_KIND,
  VOLUME_ATTRIBUTES_CLASS_KIND,
  MUTATING_ADMISSION_POLICY_KIND,
  MUTATING_ADMISSION_POLICY_BINDING_KIND,
  MUTATING_WEBHOOK_CONFIGURATION_KIND,
  VALIDATING_ADMISSION_POLICY_KIND,
  VALIDATING_ADMISSION_POLICY_BINDING_KIND,
  VALIDATING_WEBHOOK_CONFIGURATION_KIND,
  CUSTOM_RESOURCE_DEFINITION_KIND,
  API_SERVICE_KIND,
  PRIORITY_CLASS_KIND,
  LEASE_KIND,
  RUNTIME_CLASS_KIND,
  ENDPOINT_SLICE_KIND,
  FLOW_SCHEMA_KIND,
  PRIORITY_LEVEL_CONFIGURATION_KIND,
];
