import type { PolicyRule } from '../../access/authorization/index.js';
import {
  APPS,
  AUTHORIZATION,
  CERTIFICATES,
  CORE,
  DEVICES,
  DISCOVERY,
  EVENTS,
  EXTENSIONS,
  NETWORKING,
  RBAC,
  READ,
  STORAGE,
  may,
  mayNamed,
} from './policy-rules.js';

const BATCH = 'batch';
const POLICY = 'policy';
const WORKLOADS = [APPS, EXTENSIONS];
/** The prefix of the roles that the accounts of controllers have. */
export const CONTROLLER_ROLE_PREFIX = 'system:controller:';

/** The rights of a controller of sets of pods: it updates the sets, and makes and deletes their pods. */
function keepsPods(groups: string | readonly string[], sets: string): PolicyRule[] {
  return [
    may(`${READ} update`, groups, sets),
    may('update', groups, `${sets}/status`),
    may('update', groups, `${sets}/finalizers`),
    may('create delete list patch watch', CORE, 'pods'),
    EVENTS,
  ];
}

const SIGNERS = [
  'kubernetes.io/legacy-unknown',
  'kubernetes.io/kube-apiserver-client',
  'kubernetes.io/kube-apiserver-client-kubelet',
  'kubernetes.io/kubelet-serving',
];

/**
 * The rules of `system:controller:ACCOUNT` by account: what each controller of kube-controller-manager may do with an
 * account of its own in `kube-system`. Source: the policy that kube-apiserver 1.36 makes at its start
 * (plugin/pkg/auth/authorizer/rbac/bootstrappolicy), without the roles of features that are off by default.
 */
export const CONTROLLER_RULES: Readonly<Record<string, readonly PolicyRule[]>> = {
  'attachdetach-controller': [
    may('list watch', CORE, 'persistentvolumeclaims persistentvolumes'),
    may(READ, CORE, 'nodes'),
    may('patch update', CORE, 'nodes/status'),
    may('list watch', CORE, 'pods'),
    EVENTS,
    may(`create delete ${READ}`, STORAGE, 'volumeattachments'),
    may(READ, STORAGE, 'csidrivers'),
    may(READ, STORAGE, 'csinodes'),
  ],
  'certificate-controller': [
    may(`delete ${READ}`, CERTIFICATES, 'certificatesigningrequests'),
    may('update', CERTIFICATES, 'certificatesigningrequests/approval certificatesigningrequests/status'),
    mayNamed('approve', CERTIFICATES, 'signers', 'kubernetes.io/kube-apiserver-client-kubelet'),
    mayNamed('sign', CERTIFICATES, 'signers', ...SIGNERS),
    may('create', AUTHORIZATION, 'subjectaccessreviews'),
    EVENTS,
  ],
  'clusterrole-aggregation-controller': [may(`escalate ${READ} patch update`, RBAC, 'clusterroles')],
  'cronjob-controller': [
    may(`${READ} update`, BATCH, 'cronjobs'),
    may(`create delete ${READ} patch update`, BATCH, 'jobs'),
    may('update', BATCH, 'cronjobs/status'),
    may('update', BATCH, 'cronjobs/finalizers'),
    may('delete list watch', CORE, 'pods'),
    EVENTS,
  ],
  'daemon-set-controller': [
    may(READ, WORKLOADS, 'daemonsets'),
    may('update', WORKLOADS, 'daemonsets/status'),
    may('update', WORKLOADS, 'daemonsets/finalizers'),
    may('list watch', CORE, 'nodes'),
    may('create delete list patch watch', CORE, 'pods'),
    may('create', CORE, 'pods/binding'),
    may(`create delete ${READ} patch update`, APPS, 'controllerrevisions'),
    EVENTS,
  ],
  'deployment-controller': [
    may(`${READ} update`, WORKLOADS, 'deployments'),
    may('update', WORKLOADS, 'deployments/status'),
    may('update', WORKLOADS, 'deployments/finalizers'),
    may(`create delete ${READ} patch update`, WORKLOADS, 'replicasets'),
    may(`${READ} update`, CORE, 'pods'),
    EVENTS,
  ],
  'device-taint-eviction-controller': [
    may(`delete ${READ}`, CORE, 'pods'),
    may('patch update', CORE, 'pods/status'),
    may(READ, DEVICES, 'resourceclaims'),
    may(READ, DEVICES, 'resourceslices'),
    may(READ, DEVICES, 'deviceclasses'),
    may(READ, DEVICES, 'devicetaintrules'),
    EVENTS,
  ],
  'disruption-controller': [
    may(READ, WORKLOADS, 'deployments'),
    may(READ, WORKLOADS, 'replicasets'),
    may(READ, CORE, 'replicationcontrollers'),
    may(READ, POLICY, 'poddisruptionbudgets'),
    may(READ, APPS, 'statefulsets'),
    may('update', POLICY, 'poddisruptionbudgets/status'),
    may('patch update', CORE, 'pods/status'),
    may('get', '*', '*/scale'),
    EVENTS,
  ],
  'endpoint-controller': [
    may(READ, CORE, 'pods services'),
    may(`create delete ${READ} update`, CORE, 'endpoints'),
    may('create', CORE, 'endpoints/restricted'),
    EVENTS,
  ],
  'endpointslice-controller': [
    may(READ, CORE, 'nodes pods services'),
    may('update', CORE, 'services/finalizers'),
    may(`create delete ${READ} update`, DISCOVERY, 'endpointslices'),
    EVENTS,
  ],
  'endpointslicemirroring-controller': [
    may(READ, CORE, 'endpoints services'),
    may('update', CORE, 'services/finalizers'),
    may('update', CORE, 'endpoints/finalizers'),
    may(`create delete ${READ} update`, DISCOVERY, 'endpointslices'),
    EVENTS,
  ],
  'ephemeral-volume-controller': [
    may(READ, CORE, 'pods'),
    may('update', CORE, 'pods/finalizers'),
    may(`create ${READ}`, CORE, 'persistentvolumeclaims'),
    EVENTS,
  ],
  'expand-controller': [
    may(`${READ} patch update`, CORE, 'persistentvolumes'),
    may('patch update', CORE, 'persistentvolumeclaims/status'),
    may(READ, CORE, 'persistentvolumeclaims'),
    EVENTS,
  ],
  'generic-garbage-collector': [may(`delete ${READ} patch update`, '*', '*'), EVENTS],
  'horizontal-pod-autoscaler': [
    may(READ, 'autoscaling', 'horizontalpodautoscalers'),
    may('update', 'autoscaling', 'horizontalpodautoscalers/status'),
    may('get update', '*', '*/scale'),
    may('list watch', CORE, 'pods'),
    may('list watch', 'metrics.k8s.io', 'pods'),
    may(READ, 'custom.metrics.k8s.io', '*'),
    may(READ, 'external.metrics.k8s.io', '*'),
    EVENTS,
  ],
  'job-controller': [
    may(`${READ} patch update`, BATCH, 'jobs'),
    may('update', BATCH, 'jobs/status'),
    may('update', BATCH, 'jobs/finalizers'),
    may('create delete list patch watch', CORE, 'pods'),
    EVENTS,
  ],
  'legacy-service-account-token-cleaner': [
    mayNamed('get', CORE, 'configmaps', 'kube-apiserver-legacy-service-account-token-tracking'),
    may('delete patch', CORE, 'secrets'),
  ],
  'namespace-controller': [
    may(`delete ${READ}`, CORE, 'namespaces'),
    may('update', CORE, 'namespaces/finalize namespaces/status'),
    may(`delete deletecollection ${READ}`, '*', '*'),
  ],
  'node-controller': [
    may(`delete ${READ} patch update`, CORE, 'nodes'),
    may('patch update', CORE, 'nodes/status'),
    may('patch update', CORE, 'pods/status'),
    may(`delete ${READ}`, CORE, 'pods'),
    EVENTS,
  ],
  'persistent-volume-binder': [
    may(`create delete ${READ} update`, CORE, 'persistentvolumes'),
    may('update', CORE, 'persistentvolumes/status'),
    may(`${READ} update`, CORE, 'persistentvolumeclaims'),
    may('update', CORE, 'persistentvolumeclaims/status'),
    may(`create delete ${READ}`, CORE, 'pods'),
    may(READ, STORAGE, 'storageclasses'),
    may('list watch', CORE, 'nodes'),
    EVENTS,
    may('watch', CORE, 'events'),
  ],
  'pod-garbage-collector': [
    may('delete list watch', CORE, 'pods'),
    may(READ, CORE, 'nodes'),
    may('patch', CORE, 'pods/status'),
  ],
  'pv-protection-controller': [may(`${READ} update`, CORE, 'persistentvolumes'), EVENTS],
  'pvc-protection-controller': [
    may(`${READ} update`, CORE, 'persistentvolumeclaims'),
    may(READ, CORE, 'pods'),
    EVENTS,
  ],
  'replicaset-controller': keepsPods(WORKLOADS, 'replicasets'),
  'replication-controller': keepsPods(CORE, 'replicationcontrollers'),
  'resource-claim-controller': [
    may(READ, CORE, 'pods'),
    may('update', CORE, 'pods/finalizers'),
    may(`create delete ${READ}`, DEVICES, 'resourceclaims'),
    may('patch update', DEVICES, 'resourceclaims resourceclaims/status'),
    may('patch update', DEVICES, 'resourceclaims/binding'),
    may('patch update', CORE, 'pods/status'),
    EVENTS,
  ],
  'resourcequota-controller': [
    may('list watch', '*', '*'),
    may('update', CORE, 'resourcequotas/status'),
    EVENTS,
  ],
  'root-ca-cert-publisher': [may('create update', CORE, 'configmaps'), EVENTS],
  'route-controller': [may('list watch', CORE, 'nodes'), may('patch', CORE, 'nodes/status'), EVENTS],
  'selinux-warning-controller': [
    EVENTS,
    may(READ, CORE, 'persistentvolumes'),
    may(READ, CORE, 'persistentvolumeclaims'),
    may(READ, CORE, 'pods'),
    may(READ, STORAGE, 'csidrivers'),
  ],
  'service-account-controller': [may('create', CORE, 'serviceaccounts'), EVENTS],
  'service-cidrs-controller': [
    may(`${READ} patch update`, NETWORKING, 'servicecidrs'),
    may('patch update', NETWORKING, 'servicecidrs/finalizers'),
    may('patch update', NETWORKING, 'servicecidrs/status'),
    may(READ, NETWORKING, 'ipaddresses'),
    EVENTS,
  ],
  'service-controller': [
    may(READ, CORE, 'services'),
    may('patch update', CORE, 'services/status'),
    may('list watch', CORE, 'nodes'),
    EVENTS,
  ],
  'statefulset-controller': [
    may('list watch', CORE, 'pods'),
    may(READ, APPS, 'statefulsets'),
    may('update', APPS, 'statefulsets/status'),
    may('update', APPS, 'statefulsets/finalizers'),
    may('create delete get patch update', CORE, 'pods'),
    may(`create delete ${READ} patch update`, APPS, 'controllerrevisions'),
    may(`create ${READ}`, CORE, 'persistentvolumeclaims'),
    may('delete update', CORE, 'persistentvolumeclaims'),
    may('update', CORE, 'pods/finalizers'),
    EVENTS,
  ],
  'ttl-after-finished-controller': [may(`delete ${READ}`, BATCH, 'jobs'), EVENTS],
  'ttl-controller': [may('list patch update watch', CORE, 'nodes'), EVENTS],
  'validatingadmissionpolicy-status-controller': [
    may(READ, 'admissionregistration.k8s.io', 'validatingadmissionpolicies'),
    may('get patch update', 'admissionregistration.k8s.io', 'validatingadmissionpolicies/status'),
    EVENTS,
  ],
  'volumeattributesclass-protection-controller': [
    may(READ, CORE, 'persistentvolumeclaims'),
    may(READ, CORE, 'persistentvolumes'),
    may(`${READ} update`, STORAGE, 'volumeattributesclasses'),
    EVENTS,
  ],
};

export interface RulesInNamespace {
  readonly account: string;
  readonly namespace: string;
  readonly rules: readonly PolicyRule[];
}

/** Rights that the accounts of controllers have in one namespace alone: the Role `system:controller:ACCOUNT` there. */
export const CONTROLLER_RULES_IN_NAMESPACES: readonly RulesInNamespace[] = [
  {
    account: 'bootstrap-signer',
    namespace: 'kube-public',
    rules: [may(READ, CORE, 'configmaps'), mayNamed('update', CORE, 'configmaps', 'cluster-info'), EVENTS],
  },
  { account: 'bootstrap-signer', namespace: 'kube-system', rules: [may(READ, CORE, 'secrets')] },
  {
    account: 'cloud-provider',
    namespace: 'kube-system',
    rules: [may(`create ${READ}`, CORE, 'configmaps')],
  },
  {
    account: 'token-cleaner',
    namespace: 'kube-system',
    rules: [may(`delete ${READ}`, CORE, 'secrets'), EVENTS],
  },
];
