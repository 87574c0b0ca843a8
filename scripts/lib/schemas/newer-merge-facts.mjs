/**
 * Facts that Kubernetes has added since the last OpenAPI document on npm (1.17), or does not state there. Source of
 * the merge facts: the markers (`+listType`, `+listMapKey`, `+structType`, `+mapType`) and struct tags
 * (`patchStrategy`, `patchMergeKey`) of the Go types in k8s.io/api and k8s.io/apimachinery.
 */
/** A list of objects that both kinds of patch merge by one key. */
const mergedBy = (key) => ({
  patchStrategy: 'merge',
  patchMergeKey: key,
  listType: 'map',
  listMapKeys: [key],
});
/** For server-side apply alone. */
const SET = { listType: 'set' };

/** By schema and property. */
export const NEWER_MERGE_FACTS = {
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus': {
    conditions: { listType: 'map', listMapKeys: ['type'] },
  },
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps': {
    'x-kubernetes-validations': mergedBy('rule'),
  },
  'io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec': {
    matchConditions: mergedBy('name'),
  },
  'io.k8s.api.admissionregistration.v1.MutatingWebhook': {
    matchConditions: mergedBy('name'),
  },
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec': {
    validationActions: SET,
  },
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicySpec': {
    matchConditions: mergedBy('name'),
    variables: mergedBy('name'),
  },
  'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyStatus': {
    conditions: { listType: 'map', listMapKeys: ['type'] },
  },
  'io.k8s.api.admissionregistration.v1.ValidatingWebhook': {
    matchConditions: mergedBy('name'),
  },
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus': {
    conditions: mergedBy('type'),
  },
  'io.k8s.api.batch.v1.JobStatus': {
    conditions: { listType: 'atomic', listMapKeys: undefined },
  },
  'io.k8s.api.batch.v1.PodFailurePolicyOnExitCodesRequirement': {
    values: SET,
  },
  'io.k8s.api.batch.v1.UncountedTerminatedPods': {
    failed: SET,
    succeeded: SET,
  },
  'io.k8s.api.certificates.v1.CertificateSigningRequestStatus': {
    conditions: { listType: 'map', listMapKeys: ['type'] },
  },
  'io.k8s.api.core.v1.ContainerRestartRuleOnExitCodes': {
    values: SET,
  },
  'io.k8s.api.core.v1.ContainerStatus': {
    allocatedResourcesStatus: mergedBy('name'),
    volumeMounts: mergedBy('mountPath'),
  },
  'io.k8s.api.core.v1.EphemeralContainer': {
    ports: { listType: 'map', listMapKeys: ['containerPort', 'protocol'] },
  },
  'io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus': {
    containers: SET,
  },
  'io.k8s.api.core.v1.PersistentVolumeSpec': {
    claimRef: { mapType: 'granular' },
  },
  'io.k8s.api.core.v1.PodSpec': {
    resourceClaims: { ...mergedBy('name'), patchStrategy: 'merge,retainKeys' },
    schedulingGates: mergedBy('name'),
  },
  'io.k8s.api.core.v1.PodStatus': {
    hostIPs: { patchStrategy: 'merge', patchMergeKey: 'ip' },
    resourceClaimStatuses: { ...mergedBy('name'), patchStrategy: 'merge,retainKeys' },
  },
  'io.k8s.api.core.v1.ResourceRequirements': {
    claims: { listType: 'map', listMapKeys: ['name'] },
  },
  'io.k8s.api.core.v1.ResourceStatus': {
    resources: { listType: 'map', listMapKeys: ['resourceID'] },
  },
  'io.k8s.api.core.v1.ServiceStatus': {
    conditions: mergedBy('type'),
  },
  'io.k8s.api.discovery.v1.Endpoint': {
    addresses: SET,
  },
  'io.k8s.api.flowcontrol.v1.FlowSchemaStatus': {
    conditions: mergedBy('type'),
  },
  'io.k8s.api.flowcontrol.v1.NonResourcePolicyRule': {
    nonResourceURLs: SET,
    verbs: SET,
  },
  'io.k8s.api.flowcontrol.v1.PriorityLevelConfigurationStatus': {
    conditions: mergedBy('type'),
  },
  'io.k8s.api.flowcontrol.v1.ResourcePolicyRule': {
    apiGroups: SET,
    namespaces: SET,
    resources: SET,
    verbs: SET,
  },
  'io.k8s.api.networking.v1.ServiceCIDRStatus': {
    conditions: mergedBy('type'),
  },
  'io.k8s.api.policy.v1.PodDisruptionBudgetSpec': {
    selector: { patchStrategy: 'replace' },
  },
  'io.k8s.api.policy.v1.PodDisruptionBudgetStatus': {
    conditions: mergedBy('type'),
  },
  'io.k8s.api.resource.v1.AllocatedDeviceStatus': {
    conditions: { listType: 'map', listMapKeys: ['type'] },
  },
  'io.k8s.api.resource.v1.ResourceClaimStatus': {
    devices: { listType: 'map', listMapKeys: ['driver', 'device', 'pool', 'shareID'] },
    reservedFor: mergedBy('uid'),
  },
  'io.k8s.api.storage.v1.CSIDriverSpec': {
    volumeLifecycleModes: SET,
  },
};

/** Objects that server-side apply treats as one value. */
export const ATOMIC_TYPES = [
  'io.k8s.api.admissionregistration.v1.MatchResources',
  'io.k8s.api.admissionregistration.v1.NamedRuleWithOperations',
  'io.k8s.api.admissionregistration.v1.ParamKind',
  'io.k8s.api.admissionregistration.v1.ParamRef',
  'io.k8s.api.admissionregistration.v1.Variable',
  'io.k8s.api.autoscaling.v1.CrossVersionObjectReference',
  'io.k8s.api.core.v1.ConfigMapKeySelector',
  'io.k8s.api.core.v1.EndpointAddress',
  'io.k8s.api.core.v1.EndpointPort',
  'io.k8s.api.core.v1.FileKeySelector',
  'io.k8s.api.core.v1.LocalObjectReference',
  'io.k8s.api.core.v1.NodeSelector',
  'io.k8s.api.core.v1.NodeSelectorTerm',
  'io.k8s.api.core.v1.ObjectFieldSelector',
  'io.k8s.api.core.v1.ObjectReference',
  'io.k8s.api.core.v1.ResourceFieldSelector',
  'io.k8s.api.core.v1.ScopeSelector',
  'io.k8s.api.core.v1.SecretKeySelector',
  'io.k8s.api.core.v1.SecretReference',
  'io.k8s.api.core.v1.TopologySelectorTerm',
  'io.k8s.api.core.v1.TypedLocalObjectReference',
  'io.k8s.api.discovery.v1.EndpointPort',
  'io.k8s.api.networking.v1.ServiceBackendPort',
  'io.k8s.api.rbac.v1.RoleRef',
  'io.k8s.api.rbac.v1.Subject',
  'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector',
  'io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference',
];

/** Maps that server-side apply treats as one value. */
export const ATOMIC_MAPS = {
  'io.k8s.api.core.v1.PodSpec': ['nodeSelector'],
  'io.k8s.api.core.v1.ReplicationControllerSpec': ['selector'],
  'io.k8s.api.core.v1.ServiceSpec': ['selector'],
  'io.k8s.api.node.v1.Scheduling': ['nodeSelector'],
};
