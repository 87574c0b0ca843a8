// Made by scripts/generate-kinds.mjs.
import type * as admissionregistrationV1 from '../generated/types/admissionregistration-v1.js';
import type * as apiextensionsV1 from '../generated/types/apiextensions-v1.js';
import type * as apiregistrationV1 from '../generated/types/apiregistration-v1.js';
import type * as appsV1 from '../generated/types/apps-v1.js';
import type * as autoscalingV2 from '../generated/types/autoscaling-v2.js';
import type * as certificatesV1 from '../generated/types/certificates-v1.js';
import type * as coreV1 from '../generated/types/core-v1.js';
import type * as discoveryV1 from '../generated/types/discovery-v1.js';
import type * as flowcontrolV1 from '../generated/types/flowcontrol-v1.js';
import type * as networkingV1 from '../generated/types/networking-v1.js';
import type * as nodeV1 from '../generated/types/node-v1.js';
import type * as policyV1 from '../generated/types/policy-v1.js';
import type * as rbacV1 from '../generated/types/rbac-v1.js';
import type * as resourceV1 from '../generated/types/resource-v1.js';
import type * as schedulingV1 from '../generated/types/scheduling-v1.js';
import type * as storageV1 from '../generated/types/storage-v1.js';
import type { KubernetesObject, OfKind } from './objects.js';
import { kindOf } from './resource-type.js';

/** An object as the API has it, with the metadata that every object has. */
type Built<T, Name extends string> = Omit<T, 'apiVersion' | 'kind' | 'metadata'> &
  KubernetesObject &
  OfKind<Name>;

/** APIService, `apiregistration.k8s.io/v1`, of the whole cluster. */
export type APIService = Built<apiregistrationV1.APIService, 'APIService'>;
export const APIService = kindOf<APIService>(
  'apiregistration.k8s.io',
  'v1',
  'apiservices',
  'APIService',
  false,
);

/** CSIDriver, `storage.k8s.io/v1`, of the whole cluster. */
export type CSIDriver = Built<storageV1.CSIDriver, 'CSIDriver'>;
export const CSIDriver = kindOf<CSIDriver>('storage.k8s.io', 'v1', 'csidrivers', 'CSIDriver', false);

/** CSINode, `storage.k8s.io/v1`, of the whole cluster. */
export type CSINode = Built<storageV1.CSINode, 'CSINode'>;
export const CSINode = kindOf<CSINode>('storage.k8s.io', 'v1', 'csinodes', 'CSINode', false);

/** CSIStorageCapacity, `storage.k8s.io/v1`. */
export type CSIStorageCapacity = Built<storageV1.CSIStorageCapacity, 'CSIStorageCapacity'>;
export const CSIStorageCapacity = kindOf<CSIStorageCapacity>(
  'storage.k8s.io',
  'v1',
  'csistoragecapacities',
  'CSIStorageCapacity',
);

/** CertificateSigningRequest, `certificates.k8s.io/v1`, of the whole cluster. */
export type CertificateSigningRequest = Built<
  certificatesV1.CertificateSigningRequest,
  'CertificateSigningRequest'
>;
export const CertificateSigningRequest = kindOf<CertificateSigningRequest>(
  'certificates.k8s.io',
  'v1',
  'certificatesigningrequests',
  'CertificateSigningRequest',
  false,
);

/** ClusterRole, `rbac.authorization.k8s.io/v1`, of the whole cluster. */
export type ClusterRole = Built<rbacV1.ClusterRole, 'ClusterRole'>;
export const ClusterRole = kindOf<ClusterRole>(
  'rbac.authorization.k8s.io',
  'v1',
  'clusterroles',
  'ClusterRole',
  false,
);

/** ClusterRoleBinding, `rbac.authorization.k8s.io/v1`, of the whole cluster. */
export type ClusterRoleBinding = Built<rbacV1.ClusterRoleBinding, 'ClusterRoleBinding'>;
export const ClusterRoleBinding = kindOf<ClusterRoleBinding>(
  'rbac.authorization.k8s.io',
  'v1',
  'clusterrolebindings',
  'ClusterRoleBinding',
  false,
);

/** ControllerRevision, `apps/v1`. */
export type ControllerRevision = Built<appsV1.ControllerRevision, 'ControllerRevision'>;
export const ControllerRevision = kindOf<ControllerRevision>(
  'apps',
  'v1',
  'controllerrevisions',
  'ControllerRevision',
);

/** CustomResourceDefinition, `apiextensions.k8s.io/v1`, of the whole cluster. */
export type CustomResourceDefinition = Built<
  apiextensionsV1.CustomResourceDefinition,
  'CustomResourceDefinition'
>;
export const CustomResourceDefinition = kindOf<CustomResourceDefinition>(
  'apiextensions.k8s.io',
  'v1',
  'customresourcedefinitions',
  'CustomResourceDefinition',
  false,
);

/** DeviceClass, `resource.k8s.io/v1`, of the whole cluster. */
export type DeviceClass = Built<resourceV1.DeviceClass, 'DeviceClass'>;
export const DeviceClass = kindOf<DeviceClass>(
  'resource.k8s.io',
  'v1',
  'deviceclasses',
  'DeviceClass',
  false,
);

/** EndpointSlice, `discovery.k8s.io/v1`. */
export type EndpointSlice = Built<discoveryV1.EndpointSlice, 'EndpointSlice'>;
export const EndpointSlice = kindOf<EndpointSlice>(
  'discovery.k8s.io',
  'v1',
  'endpointslices',
  'EndpointSlice',
);

/** Endpoints, `v1`. */
export type Endpoints = Built<coreV1.Endpoints, 'Endpoints'>;
export const Endpoints = kindOf<Endpoints>('', 'v1', 'endpoints', 'Endpoints');

/** Event, `v1`. */
export type Event = Built<coreV1.Event, 'Event'>;
export const Event = kindOf<Event>('', 'v1', 'events', 'Event');

/** FlowSchema, `flowcontrol.apiserver.k8s.io/v1`, of the whole cluster. */
export type FlowSchema = Built<flowcontrolV1.FlowSchema, 'FlowSchema'>;
export const FlowSchema = kindOf<FlowSchema>(
  'flowcontrol.apiserver.k8s.io',
  'v1',
  'flowschemas',
  'FlowSchema',
  false,
);

/** HorizontalPodAutoscaler, `autoscaling/v2`. */
export type HorizontalPodAutoscaler = Built<autoscalingV2.HorizontalPodAutoscaler, 'HorizontalPodAutoscaler'>;
export const HorizontalPodAutoscaler = kindOf<HorizontalPodAutoscaler>(
  'autoscaling',
  'v2',
  'horizontalpodautoscalers',
  'HorizontalPodAutoscaler',
);

/** IPAddress, `networking.k8s.io/v1`, of the whole cluster. */
export type IPAddress = Built<networkingV1.IPAddress, 'IPAddress'>;
export const IPAddress = kindOf<IPAddress>('networking.k8s.io', 'v1', 'ipaddresses', 'IPAddress', false);

/** IngressClass, `networking.k8s.io/v1`, of the whole cluster. */
export type IngressClass = Built<networkingV1.IngressClass, 'IngressClass'>;
export const IngressClass = kindOf<IngressClass>(
  'networking.k8s.io',
  'v1',
  'ingressclasses',
  'IngressClass',
  false,
);

/** LimitRange, `v1`. */
export type LimitRange = Built<coreV1.LimitRange, 'LimitRange'>;
export const LimitRange = kindOf<LimitRange>('', 'v1', 'limitranges', 'LimitRange');

/** MutatingAdmissionPolicy, `admissionregistration.k8s.io/v1`, of the whole cluster. */
export type MutatingAdmissionPolicy = Built<
  admissionregistrationV1.MutatingAdmissionPolicy,
  'MutatingAdmissionPolicy'
>;
export const MutatingAdmissionPolicy = kindOf<MutatingAdmissionPolicy>(
  'admissionregistration.k8s.io',
  'v1',
  'mutatingadmissionpolicies',
  'MutatingAdmissionPolicy',
  false,
);

/** MutatingAdmissionPolicyBinding, `admissionregistration.k8s.io/v1`, of the whole cluster. */
export type MutatingAdmissionPolicyBinding = Built<
  admissionregistrationV1.MutatingAdmissionPolicyBinding,
  'MutatingAdmissionPolicyBinding'
>;
export const MutatingAdmissionPolicyBinding = kindOf<MutatingAdmissionPolicyBinding>(
  'admissionregistration.k8s.io',
  'v1',
  'mutatingadmissionpolicybindings',
  'MutatingAdmissionPolicyBinding',
  false,
);

/** MutatingWebhookConfiguration, `admissionregistration.k8s.io/v1`, of the whole cluster. */
export type MutatingWebhookConfiguration = Built<
  admissionregistrationV1.MutatingWebhookConfiguration,
  'MutatingWebhookConfiguration'
>;
export const MutatingWebhookConfiguration = kindOf<MutatingWebhookConfiguration>(
  'admissionregistration.k8s.io',
  'v1',
  'mutatingwebhookconfigurations',
  'MutatingWebhookConfiguration',
  false,
);

/** NetworkPolicy, `networking.k8s.io/v1`. */
export type NetworkPolicy = Built<networkingV1.NetworkPolicy, 'NetworkPolicy'>;
export const NetworkPolicy = kindOf<NetworkPolicy>(
  'networking.k8s.io',
  'v1',
  'networkpolicies',
  'NetworkPolicy',
);

/** PodDisruptionBudget, `policy/v1`. */
export type PodDisruptionBudget = Built<policyV1.PodDisruptionBudget, 'PodDisruptionBudget'>;
export const PodDisruptionBudget = kindOf<PodDisruptionBudget>(
  'policy',
  'v1',
  'poddisruptionbudgets',
  'PodDisruptionBudget',
);

/** PodTemplate, `v1`. */
export type PodTemplate = Built<coreV1.PodTemplate, 'PodTemplate'>;
export const PodTemplate = kindOf<PodTemplate>('', 'v1', 'podtemplates', 'PodTemplate');

/** PriorityClass, `scheduling.k8s.io/v1`, of the whole cluster. */
export type PriorityClass = Built<schedulingV1.PriorityClass, 'PriorityClass'>;
export const PriorityClass = kindOf<PriorityClass>(
  'scheduling.k8s.io',
  'v1',
  'priorityclasses',
  'PriorityClass',
  false,
);

/** PriorityLevelConfiguration, `flowcontrol.apiserver.k8s.io/v1`, of the whole cluster. */
export type PriorityLevelConfiguration = Built<
  flowcontrolV1.PriorityLevelConfiguration,
  'PriorityLevelConfiguration'
>;
export const PriorityLevelConfiguration = kindOf<PriorityLevelConfiguration>(
  'flowcontrol.apiserver.k8s.io',
  'v1',
  'prioritylevelconfigurations',
  'PriorityLevelConfiguration',
  false,
);

/** ReplicationController, `v1`. */
export type ReplicationController = Built<coreV1.ReplicationController, 'ReplicationController'>;
export const ReplicationController = kindOf<ReplicationController>(
  '',
  'v1',
  'replicationcontrollers',
  'ReplicationController',
);

/** ResourceClaim, `resource.k8s.io/v1`. */
export type ResourceClaim = Built<resourceV1.ResourceClaim, 'ResourceClaim'>;
export const ResourceClaim = kindOf<ResourceClaim>(
  'resource.k8s.io',
  'v1',
  'resourceclaims',
  'ResourceClaim',
);

/** ResourceClaimTemplate, `resource.k8s.io/v1`. */
export type ResourceClaimTemplate = Built<resourceV1.ResourceClaimTemplate, 'ResourceClaimTemplate'>;
export const ResourceClaimTemplate = kindOf<ResourceClaimTemplate>(
  'resource.k8s.io',
  'v1',
  'resourceclaimtemplates',
  'ResourceClaimTemplate',
);

/** ResourceQuota, `v1`. */
export type ResourceQuota = Built<coreV1.ResourceQuota, 'ResourceQuota'>;
export const ResourceQuota = kindOf<ResourceQuota>('', 'v1', 'resourcequotas', 'ResourceQuota');

/** ResourceSlice, `resource.k8s.io/v1`, of the whole cluster. */
export type ResourceSlice = Built<resourceV1.ResourceSlice, 'ResourceSlice'>;
export const ResourceSlice = kindOf<ResourceSlice>(
  'resource.k8s.io',
  'v1',
  'resourceslices',
  'ResourceSlice',
  false,
);

/** Role, `rbac.authorization.k8s.io/v1`. */
export type Role = Built<rbacV1.Role, 'Role'>;
export const Role = kindOf<Role>('rbac.authorization.k8s.io', 'v1', 'roles', 'Role');

/** RoleBinding, `rbac.authorization.k8s.io/v1`. */
export type RoleBinding = Built<rbacV1.RoleBinding, 'RoleBinding'>;
export const RoleBinding = kindOf<RoleBinding>(
  'rbac.authorization.k8s.io',
  'v1',
  'rolebindings',
  'RoleBinding',
);

/** RuntimeClass, `node.k8s.io/v1`, of the whole cluster. */
export type RuntimeClass = Built<nodeV1.RuntimeClass, 'RuntimeClass'>;
export const RuntimeClass = kindOf<RuntimeClass>(
  'node.k8s.io',
  'v1',
  'runtimeclasses',
  'RuntimeClass',
  false,
);

/** ServiceCIDR, `networking.k8s.io/v1`, of the whole cluster. */
export type ServiceCIDR = Built<networkingV1.ServiceCIDR, 'ServiceCIDR'>;
export const ServiceCIDR = kindOf<ServiceCIDR>(
  'networking.k8s.io',
  'v1',
  'servicecidrs',
  'ServiceCIDR',
  false,
);

/** ValidatingAdmissionPolicy, `admissionregistration.k8s.io/v1`, of the whole cluster. */
export type ValidatingAdmissionPolicy = Built<
  admissionregistrationV1.ValidatingAdmissionPolicy,
  'ValidatingAdmissionPolicy'
>;
export const ValidatingAdmissionPolicy = kindOf<ValidatingAdmissionPolicy>(
  'admissionregistration.k8s.io',
  'v1',
  'validatingadmissionpolicies',
  'ValidatingAdmissionPolicy',
  false,
);

/** ValidatingAdmissionPolicyBinding, `admissionregistration.k8s.io/v1`, of the whole cluster. */
export type ValidatingAdmissionPolicyBinding = Built<
  admissionregistrationV1.ValidatingAdmissionPolicyBinding,
  'ValidatingAdmissionPolicyBinding'
>;
export const ValidatingAdmissionPolicyBinding = kindOf<ValidatingAdmissionPolicyBinding>(
  'admissionregistration.k8s.io',
  'v1',
  'validatingadmissionpolicybindings',
  'ValidatingAdmissionPolicyBinding',
  false,
);

/** ValidatingWebhookConfiguration, `admissionregistration.k8s.io/v1`, of the whole cluster. */
export type ValidatingWebhookConfiguration = Built<
  admissionregistrationV1.ValidatingWebhookConfiguration,
  'ValidatingWebhookConfiguration'
>;
export const ValidatingWebhookConfiguration = kindOf<ValidatingWebhookConfiguration>(
  'admissionregistration.k8s.io',
  'v1',
  'validatingwebhookconfigurations',
  'ValidatingWebhookConfiguration',
  false,
);

/** VolumeAttachment, `storage.k8s.io/v1`, of the whole cluster. */
export type VolumeAttachment = Built<storageV1.VolumeAttachment, 'VolumeAttachment'>;
export const VolumeAttachment = kindOf<VolumeAttachment>(
  'storage.k8s.io',
  'v1',
  'volumeattachments',
  'VolumeAttachment',
  false,
);

/** VolumeAttributesClass, `storage.k8s.io/v1`, of the whole cluster. */
export type VolumeAttributesClass = Built<storageV1.VolumeAttributesClass, 'VolumeAttributesClass'>;
export const VolumeAttributesClass = kindOf<VolumeAttributesClass>(
  'storage.k8s.io',
  'v1',
  'volumeattributesclasses',
  'VolumeAttributesClass',
  false,
);
