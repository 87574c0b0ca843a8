import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import type { ICertificateSigningRequest } from 'kubernetes-models/certificates.k8s.io/v1/CertificateSigningRequest';
import type { IEndpointSlice } from 'kubernetes-models/discovery.k8s.io/v1/EndpointSlice';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { IClusterRole } from 'kubernetes-models/rbac.authorization.k8s.io/v1/ClusterRole';
import type { IEndpoints } from 'kubernetes-models/v1/Endpoints';
import type { IResourceQuota } from 'kubernetes-models/v1/ResourceQuota';
import type { Int64, KubernetesObject, PodTemplateSpec } from '../../base/kubernetes/index.js';
import { defineKind } from '../../kit/index.js';

/** The kinds that the kit has no name for. */

export type Endpoints = KubernetesObject & Pick<IEndpoints, 'subsets'>;
export const Endpoints = defineKind<Endpoints>({
  ...{ group: '', version: 'v1', kind: 'Endpoints', resource: 'endpoints' },
});

export type EndpointSlice = KubernetesObject & Pick<IEndpointSlice, 'addressType' | 'endpoints' | 'ports'>;
export const EndpointSlice = defineKind<EndpointSlice>({
  ...{ group: 'discovery.k8s.io', version: 'v1', kind: 'EndpointSlice' },
});

export type PodDisruptionBudget = KubernetesObject & Pick<IPodDisruptionBudget, 'spec' | 'status'>;
export const PodDisruptionBudget = defineKind<PodDisruptionBudget>({
  ...{ group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' },
});

export type ResourceQuota = KubernetesObject & Pick<IResourceQuota, 'spec' | 'status'>;
export const ResourceQuota = defineKind<ResourceQuota>({ group: '', version: 'v1', kind: 'ResourceQuota' });

export type ClusterRole = KubernetesObject & Pick<IClusterRole, 'aggregationRule' | 'rules'>;
export const ClusterRole = defineKind<ClusterRole>({
  ...{ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole', namespaced: false },
});

export type HorizontalPodAutoscaler = KubernetesObject & Pick<IHorizontalPodAutoscaler, 'spec' | 'status'>;
export const HorizontalPodAutoscaler = defineKind<HorizontalPodAutoscaler>({
  ...{ group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
});

export type CertificateSigningRequest = KubernetesObject &
  Pick<ICertificateSigningRequest, 'spec' | 'status'>;
export const CertificateSigningRequest = defineKind<CertificateSigningRequest>({
  ...{ group: 'certificates.k8s.io', version: 'v1', kind: 'CertificateSigningRequest', namespaced: false },
});

/** What a StatefulSet or a DaemonSet was like at one time. */
export interface ControllerRevision extends KubernetesObject {
  /** Counts up: the greatest is the newest. */
  revision: Int64;
  /** A strategic merge patch that makes the owner of today like that. */
  data?: { spec?: { template?: PodTemplateSpec & { $patch?: string } } };
}
export const ControllerRevision = defineKind<ControllerRevision>({
  ...{ group: 'apps', version: 'v1', kind: 'ControllerRevision' },
});
