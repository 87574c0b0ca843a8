{{- /* The groups of `deployments.api`: apps, rollkeeper.dev. */}}
{{- define "rollkeeper.deploymentGroups" -}}
{{- $groups := list }}
{{- range splitList "," .Values.deployments.api }}{{ $groups = append $groups (splitList "/" . | first) }}{{ end }}
{{- join ", " $groups }}
{{- end }}

{{- /* What the informers read; the same for all controllers. */}}
{{- define "rollkeeper.rules.informers" -}}
- apiGroups: [{{ include "rollkeeper.deploymentGroups" . }}]
  resources: [deployments]
  verbs: [list, watch]
- apiGroups: [apps]
  resources: [replicasets]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [pods, resourcequotas]
  verbs: [list, watch]
{{- if or .Values.restartOnConfig .Values.pinConfig }}
{{- /* Digests of their content are kept, never the content. */}}
- apiGroups: [""]
  resources: [configmaps, secrets]
  verbs: [list, watch]
{{- end }}
{{- if .Values.respectDisruptionBudgets }}
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [list, watch]
{{- end }}
{{- if or .Values.blueGreen .Values.traffic .Values.experimentServices }}
- apiGroups: [""]
  resources: [services]
  verbs: [list, watch]
{{- end }}
{{- if .Values.traffic }}
- apiGroups: [gateway.networking.k8s.io]
  resources: [httproutes, grpcroutes]
  verbs: [list, watch]
{{- end }}
{{- if .Values.evictionRequests }}
- apiGroups: [lifecycle.k8s.io]
  resources: [evictions]
  verbs: [list, watch]
{{- end }}
{{- if .Values.statefulSets }}
- apiGroups: [apps]
  resources: [statefulsets, controllerrevisions]
  verbs: [list, watch]
{{- end }}
{{- if .Values.daemonSets }}
- apiGroups: [apps]
  resources: [daemonsets, controllerrevisions]
  verbs: [list, watch]
{{- end }}
{{- if and (or .Values.zones .Values.daemonSets) (not .Values.namespaces) }}
{{- /* By whose labels rollouts go zone by zone, and by whose taints a DaemonSet has no pod there. */}}
- apiGroups: [""]
  resources: [nodes]
  verbs: [list, watch]
{{- end }}
{{- /* Their changes may end a refusal, and wake what was refused. */}}
- apiGroups: [""]
  resources: [limitranges, serviceaccounts]
  verbs: [list, watch]
{{- if not .Values.namespaces }}
{{- /* Their annotations are defaults for rollouts. */}}
- apiGroups: [""]
  resources: [namespaces]
  verbs: [list, watch]
- apiGroups: [admissionregistration.k8s.io]
  resources:
    - validatingadmissionpolicies
    - validatingadmissionpolicybindings
    - mutatingadmissionpolicies
    - mutatingadmissionpolicybindings
    - validatingwebhookconfigurations
    - mutatingwebhookconfigurations
  verbs: [list, watch]
- apiGroups: [scheduling.k8s.io]
  resources: [priorityclasses]
  verbs: [list, watch]
- apiGroups: [node.k8s.io]
  resources: [runtimeclasses]
  verbs: [list, watch]
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [list, watch]
{{- end }}
{{- end }}

{{- /* By whose UID a replica knows its cluster. */}}
{{- define "rollkeeper.rules.cluster" -}}
- apiGroups: [""]
  resources: [namespaces]
  resourceNames: [kube-system]
  verbs: [get]
{{- end }}

{{- /* What is looked at for problems, besides what the informers read. */}}
{{- define "rollkeeper.rules.problems" -}}
- apiGroups: [""]
  resources: [events, pods, services, persistentvolumeclaims, replicationcontrollers, resourcequotas]
  verbs: [list]
- apiGroups: [apps]
  resources: [replicasets, statefulsets, daemonsets]
  verbs: [list]
- apiGroups: [batch]
  resources: [jobs, cronjobs]
  verbs: [list]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [list]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [list]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list]
{{- if not .Values.namespaces }}
- apiGroups: [""]
  resources: [nodes, namespaces, persistentvolumes]
  verbs: [list]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses]
  verbs: [list]
- apiGroups: [apiregistration.k8s.io]
  resources: [apiservices]
  verbs: [list]
- apiGroups: [admissionregistration.k8s.io]
  resources: [validatingwebhookconfigurations, mutatingwebhookconfigurations]
  verbs: [list]
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [list]
{{- end }}
{{- end }}

{{- define "rollkeeper.rules.events" -}}
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{- define "rollkeeper.rules.deployment" -}}
- apiGroups: [{{ include "rollkeeper.deploymentGroups" . }}]
  resources: [deployments]
  verbs: [get, update]
- apiGroups: [{{ include "rollkeeper.deploymentGroups" . }}]
  resources: [deployments/status, deployments/finalizers]
  verbs: [update]
- apiGroups: [apps]
  resources: [replicasets]
  verbs: [get, create, update, delete]
{{- if .Values.respectDisruptionBudgets }}
{{- /* A rollout takes from a budget as an eviction does. */}}
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get]
- apiGroups: [policy]
  resources: [poddisruptionbudgets/status]
  verbs: [update]
{{- end }}
{{- if .Values.pinConfig }}
{{- /* Versions read copies of their configuration. */}}
- apiGroups: [""]
  resources: [configmaps, secrets]
  verbs: [get, create]
{{- end }}
{{- if .Values.resizePods }}
{{- /* Pods that run get other cpu and memory. */}}
- apiGroups: [""]
  resources: [pods]
  verbs: [get]
- apiGroups: [""]
  resources: [pods/resize]
  verbs: [update]
- apiGroups: [{{ include "rollkeeper.deploymentGroups" . }}]
  resources: [deployments]
  verbs: [patch]
{{- end }}
{{- if .Values.evictionWebhook.enabled }}
{{- /* Pods that are to be evicted are marked. */}}
- apiGroups: [""]
  resources: [pods]
  verbs: [patch]
{{- end }}
{{- if .Values.evictionRequests }}
{{- /* Pods that are to be evicted are marked, and the responder reports. */}}
- apiGroups: [""]
  resources: [pods]
  verbs: [get, patch]
- apiGroups: [lifecycle.k8s.io]
  resources: [evictions]
  verbs: [get]
- apiGroups: [lifecycle.k8s.io]
  resources: [evictions/status]
  verbs: [patch]
{{- end }}
{{- if .Values.rolloutChecks.enabled }}
{{- /* The definitions of checks are read where one is open, and not watched. */}}
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get]
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, create]
{{- end }}
{{- if or (and .Values.rolloutChecks.enabled .Values.rolloutChecks.secrets) .Values.notifications.hosts }}
{{- /* Values for requests of checks, and the channels of notifications. */}}
- apiGroups: [""]
  resources: [secrets]
  verbs: [get]
{{- end }}
{{- if or .Values.blueGreen .Values.traffic }}
{{- /* Selectors move from one version to the other. */}}
- apiGroups: [""]
  resources: [services]
  verbs: [get, patch]
{{- end }}
{{- if .Values.traffic }}
{{- /* Weights, the Services of both versions, and the pods behind them. */}}
- apiGroups: [gateway.networking.k8s.io]
  resources: [httproutes, grpcroutes]
  verbs: [patch]
- apiGroups: [""]
  resources: [services]
  verbs: [create]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list]
{{- end }}
{{- if .Values.experimentServices }}
{{- /* Each version of an experiment has one, if its step asks for them. */}}
- apiGroups: [""]
  resources: [services]
  verbs: [get, create]
{{- end }}
{{- if .Values.statefulSets }}
{{- /* Their partition is moved, their revisions keep the state of rollouts, and a pod is replaced on the way back. */}}
- apiGroups: [apps]
  resources: [statefulsets, controllerrevisions]
  verbs: [get, update, patch]
- apiGroups: [""]
  resources: [pods]
  verbs: [delete]
{{- end }}
{{- if .Values.daemonSets }}
{{- /* Their pods are replaced by shares of the nodes, and their revisions keep the state of rollouts. */}}
- apiGroups: [apps]
  resources: [daemonsets, controllerrevisions]
  verbs: [get, update, patch]
- apiGroups: [""]
  resources: [pods]
  verbs: [delete]
{{- end }}
{{- if .Values.watchAdmission }}
{{- /* Pods that are created on trial, and the result on their Deployment. */}}
- apiGroups: [""]
  resources: [pods]
  verbs: [create]
- apiGroups: [{{ include "rollkeeper.deploymentGroups" . }}]
  resources: [deployments]
  verbs: [patch]
{{- end }}
{{- if .Values.lastingHistory }}
{{- /* Each Deployment's history, in its namespace. */}}
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, create, update]
{{- end }}
{{- end }}

{{- define "rollkeeper.rules.replicaset" -}}
- apiGroups: [apps]
  resources: [replicasets]
  verbs: [get]
- apiGroups: [apps]
  resources: [replicasets/status, replicasets/finalizers]
  verbs: [update]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, create, patch, delete]
{{- end }}

{{- define "rollkeeper.rules.garbage-collector" -}}
- apiGroups: ["*"]
  resources: ["*"]
  verbs: [get, list, watch, patch, delete]
{{- end }}

{{- define "rollkeeper.rules.namespace" -}}
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [namespaces/finalize, namespaces/status]
  verbs: [update]
- apiGroups: ["*"]
  resources: ["*"]
  verbs: [list, delete, deletecollection]
{{- end }}

{{- /* JSON: the controllers that have accounts of their own, by name, with what these are called. */}}
{{- define "rollkeeper.controllerAccounts" -}}
{{- $accounts := dict }}
{{- if .Values.serviceAccount.perController }}
{{- range $name, $account := dict "deployment" "deployment-controller" "replicaset" "replicaset-controller" "garbage-collector" "generic-garbage-collector" "namespace" "namespace-controller" }}
{{- $names := list $name (printf "%s-controller" $name) ($name | replace "-" "") }}
{{- if include "rollkeeper.runs" (dict "controllers" $.Values.controllers "name" $name "names" $names) }}
{{- $_ := set $accounts $name (printf "%s-%s" (include "rollkeeper.fullname" $) $account) }}
{{- end }}
{{- end }}
{{- end }}
{{- toJson $accounts }}
{{- end }}

{{- /* `rules` for `account`: in the namespaces of the installation, or everywhere. `name` is the roles'. */}}
{{- define "rollkeeper.grant" -}}
{{- $grant := . }}
{{- $kind := ternary "Role" "ClusterRole" (gt (len .root.Values.namespaces) 0) }}
{{- range (.root.Values.namespaces | default (list "")) }}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ $grant.name }}
  {{- with . }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "rollkeeper.labels" $grant.root | nindent 4 }}
rules:
  {{- $grant.rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ $grant.name }}
  {{- with . }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "rollkeeper.labels" $grant.root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ $grant.name }}
subjects:
  - kind: ServiceAccount
    name: {{ $grant.account }}
    namespace: {{ $grant.root.Release.Namespace }}
---
{{- end }}
{{- end }}
