import type { HorizontalPodAutoscaler as IHorizontalPodAutoscaler } from '@rollkeeper/machinery/types/autoscaling-v2';
import type { CertificateSigningRequest as ICertificateSigningRequest } from '@rollkeeper/machinery/types/certificates-v1';
import type {
  Endpoints as IEndpoints,
  ResourceQuota as IResourceQuota,
} from '@rollkeeper/machinery/types/core-v1';
import type { EndpointSlice as IEndpointSlice } from '@rollkeeper/machinery/types/discovery-v1';
import type { PodDisruptionBudget as IPodDisruptionBudget } from '@rollkeeper/machinery/types/policy-v1';
import type { ClusterRole as IClusterRole } from '@rollkeeper/machinery/types/rbac-v1';
import type { Int64, KubernetesObject, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { defineKind } from '@rollkeeper/runtime';

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
