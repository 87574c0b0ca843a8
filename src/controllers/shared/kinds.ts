import type * as autoscalingV2 from '@rollkeeper/machinery/types/autoscaling-v2';
import type * as certificatesV1 from '@rollkeeper/machinery/types/certificates-v1';
import type * as coreV1 from '@rollkeeper/machinery/types/core-v1';
import type * as discoveryV1 from '@rollkeeper/machinery/types/discovery-v1';
import type * as networkingV1 from '@rollkeeper/machinery/types/networking-v1';
import type * as policyV1 from '@rollkeeper/machinery/types/policy-v1';
import type * as rbacV1 from '@rollkeeper/machinery/types/rbac-v1';
import type * as resourceV1 from '@rollkeeper/machinery/types/resource-v1';
import type * as storageV1 from '@rollkeeper/machinery/types/storage-v1';
import type { Int64, KubernetesObject, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { defineKind } from '@rollkeeper/runtime';

export type Endpoints = KubernetesObject & Pick<coreV1.Endpoints, 'subsets'>;
export const Endpoints = defineKind<Endpoints>({
  ...{ group: '', version: 'v1', kind: 'Endpoints', resource: 'endpoints' },
});

export type EndpointSlice = KubernetesObject &
  Pick<discoveryV1.EndpointSlice, 'addressType' | 'endpoints' | 'ports'>;
/** Label of an EndpointSlice: its Service. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
export const EndpointSlice = defineKind<EndpointSlice>({
  ...{ group: 'discovery.k8s.io', version: 'v1', kind: 'EndpointSlice' },
});

export type PodDisruptionBudget = KubernetesObject & Pick<policyV1.PodDisruptionBudget, 'spec' | 'status'>;
export const PodDisruptionBudget = defineKind<PodDisruptionBudget>({
  ...{ group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' },
});

export type ReplicationController = KubernetesObject & Pick<coreV1.ReplicationController, 'spec' | 'status'>;
export const ReplicationController = defineKind<ReplicationController>({
  ...{ group: '', version: 'v1', kind: 'ReplicationController' },
});

export type ResourceQuota = KubernetesObject & Pick<coreV1.ResourceQuota, 'spec' | 'status'>;
export const ResourceQuota = defineKind<ResourceQuota>({ group: '', version: 'v1', kind: 'ResourceQuota' });

export type ClusterRole = KubernetesObject & Pick<rbacV1.ClusterRole, 'aggregationRule' | 'rules'>;
export const ClusterRole = defineKind<ClusterRole>({
  ...{ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole', namespaced: false },
});

export type HorizontalPodAutoscaler = KubernetesObject &
  Pick<autoscalingV2.HorizontalPodAutoscaler, 'spec' | 'status'>;
export const HorizontalPodAutoscaler = defineKind<HorizontalPodAutoscaler>({
  ...{ group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
});

export type CertificateSigningRequest = KubernetesObject &
  Pick<certificatesV1.CertificateSigningRequest, 'spec' | 'status'>;
export const CertificateSigningRequest = defineKind<CertificateSigningRequest>({
  ...{ group: 'certificates.k8s.io', version: 'v1', kind: 'CertificateSigningRequest', namespaced: false },
});

/** A former state of a StatefulSet or a DaemonSet. */
export interface ControllerRevision extends KubernetesObject {
  /** Increases: the greatest is the newest. */
  revision: Int64;
  /** A strategic merge patch that restores that state on the current owner. */
  data?: { spec?: { template?: PodTemplateSpec & { $patch?: string } } };
}
/** Label of a pod of a StatefulSet or a DaemonSet: the revision that it was made from. */
export const REVISION_LABEL = 'controller-revision-hash';
export const ControllerRevision = defineKind<ControllerRevision>({
  ...{ group: 'apps', version: 'v1', kind: 'ControllerRevision' },
});

const RESOURCE_GROUP = { group: 'resource.k8s.io', version: 'v1' };

export type ResourceClaim = KubernetesObject & Pick<resourceV1.ResourceClaim, 'spec' | 'status'>;
export const ResourceClaim = defineKind<ResourceClaim>({ ...RESOURCE_GROUP, kind: 'ResourceClaim' });

export type ResourceClaimTemplate = KubernetesObject & Pick<resourceV1.ResourceClaimTemplate, 'spec'>;
export const ResourceClaimTemplate = defineKind<ResourceClaimTemplate>({
  ...{ ...RESOURCE_GROUP, kind: 'ResourceClaimTemplate' },
});

export type ResourceSlice = KubernetesObject & Pick<resourceV1.ResourceSlice, 'spec'>;
export const ResourceSlice = defineKind<ResourceSlice>({
  ...{ ...RESOURCE_GROUP, kind: 'ResourceSlice', namespaced: false },
});

const STORAGE_GROUP = { group: 'storage.k8s.io', version: 'v1', namespaced: false };

export type VolumeAttachment = KubernetesObject & Pick<storageV1.VolumeAttachment, 'spec' | 'status'>;
export const VolumeAttachment = defineKind<VolumeAttachment>({ ...STORAGE_GROUP, kind: 'VolumeAttachment' });

export type CSIDriver = KubernetesObject & Pick<storageV1.CSIDriver, 'spec'>;
export const CSIDriver = defineKind<CSIDriver>({ ...STORAGE_GROUP, kind: 'CSIDriver' });

export type VolumeAttributesClass = KubernetesObject & Pick<storageV1.VolumeAttributesClass, 'driverName'>;
export const VolumeAttributesClass = defineKind<VolumeAttributesClass>({
  ...{ ...STORAGE_GROUP, kind: 'VolumeAttributesClass' },
});

const NETWORK_GROUP = { group: 'networking.k8s.io', version: 'v1', namespaced: false };

export type ServiceCIDR = KubernetesObject & Pick<networkingV1.ServiceCIDR, 'spec' | 'status'>;
export const ServiceCIDR = defineKind<ServiceCIDR>({ ...NETWORK_GROUP, kind: 'ServiceCIDR' });

export type IPAddress = KubernetesObject & Pick<networkingV1.IPAddress, 'spec'>;
export const IPAddress = defineKind<IPAddress>({ ...NETWORK_GROUP, kind: 'IPAddress' });
