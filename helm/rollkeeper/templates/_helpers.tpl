{{- define "rollkeeper.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "rollkeeper.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "rollkeeper.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "rollkeeper.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* Of the pod of `helm test`, which is none of those that the chart's selectors are about. */}}
{{- define "rollkeeper.testLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}-test
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "rollkeeper.serviceAccountName" -}}
{{- default (include "rollkeeper.fullname" .) .Values.serviceAccount.name }}
{{- end }}

{{- /* A Service's name has at most 63 characters. */}}
{{- define "rollkeeper.adminServiceName" -}}
{{- printf "%s-admin" (include "rollkeeper.fullname" . | trunc 57 | trimSuffix "-") }}
{{- end }}

{{- define "rollkeeper.adminSecretName" -}}
{{- .Values.admin.existingSecret | default (printf "%s-admin-token" (include "rollkeeper.fullname" .)) }}
{{- end }}

{{- /* The key of a Secret of ours is always the same. */}}
{{- define "rollkeeper.adminSecretKey" -}}
{{- if .Values.admin.existingSecret }}{{ .Values.admin.existingSecretKey }}{{ else }}token{{ end }}
{{- end }}

{{- define "rollkeeper.adminScheme" -}}
{{- if .Values.admin.tls.enabled }}https{{ else }}http{{ end }}
{{- end }}

{{- /* Empty: the replicas make their certificates, or need none. */}}
{{- define "rollkeeper.adminTlsSecretName" -}}
{{- if .Values.admin.tls.enabled }}{{ .Values.admin.tls.existingSecret }}{{ end }}
{{- end }}

{{- /* Whether a controller runs, by the rules of --controllers: the first mention of any of its names, else `*`. */}}
{{- define "rollkeeper.runs" -}}
{{- $first := "" }}
{{- $star := false }}
{{- range splitList "," .controllers }}
{{- $entry := trim . }}
{{- if eq $entry "*" }}{{ $star = true }}{{ end }}
{{- if and (eq $first "") (has (trimPrefix "-" $entry) $.names) }}{{ $first = $entry }}{{ end }}
{{- end }}
{{- if or (and $first (not (hasPrefix "-" $first))) (and (not $first) $star) }}true{{ end }}
{{- end }}

{{- /* What the installation works on, in words: empty for everything. */}}
{{- define "rollkeeper.scope" -}}
{{- $namespaces := "" }}
{{- with .Values.namespaces }}{{ $namespaces = printf "namespaces %s " (. | sortAlpha | uniq | join ",") }}{{ end }}
{{- $selector := "" }}
{{- with .Values.selector }}{{ $selector = printf "selector %s" . }}{{ end }}
{{- $coordination := "" }}
{{- /* Replicas on Redis and replicas on a Lease do not see each other either. */}}
{{- if ne .Values.coordination "redis" }}{{ $coordination = printf "coordination %s " .Values.coordination }}{{ end }}
{{- printf "%s%s%s" $coordination $namespaces $selector | trim }}
{{- end }}

{{- /* Whether the release that is there works on something else. */}}
{{- define "rollkeeper.scopeChanges" -}}
{{- $there := lookup "apps/v1" "Deployment" .Release.Namespace (include "rollkeeper.fullname" .) }}
{{- if $there }}
{{- $scope := get ($there.metadata.annotations | default dict) "rollkeeper.dev/scope" }}
{{- if ne ($scope | default "") (include "rollkeeper.scope" .) }}true{{ end }}
{{- end }}
{{- end }}

{{- /* Rather on different nodes, where the values say nothing; null says that nothing is wanted. */}}
{{- define "rollkeeper.affinity" -}}
{{- if .Values.affinity }}
{{- toYaml .Values.affinity }}
{{- else if kindIs "map" .Values.affinity -}}
podAntiAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "rollkeeper.selectorLabels" . | nindent 12 }}
{{- end }}
{{- end }}

{{- /* As with the affinity. By default each ReplicaSet is spread for itself, where the cluster can do that (1.27). */}}
{{- define "rollkeeper.topologySpreadConstraints" -}}
{{- $own := dict "labelSelector" (dict "matchLabels" (include "rollkeeper.selectorLabels" . | fromYaml)) }}
{{- $constraints := list }}
{{- if .Values.topologySpreadConstraints }}
{{- range .Values.topologySpreadConstraints }}
{{- $constraints = append $constraints (merge (deepCopy .) (ternary dict $own (hasKey . "labelSelector"))) }}
{{- end }}
{{- else if kindIs "slice" .Values.topologySpreadConstraints }}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
{{- $constraint := merge (dict "maxSkew" 1 "topologyKey" . "whenUnsatisfiable" "ScheduleAnyway") $own }}
{{- if semverCompare ">=1.27-0" $.Capabilities.KubeVersion.Version }}
{{- $constraint = set $constraint "matchLabelKeys" (list "pod-template-hash") }}
{{- end }}
{{- $constraints = append $constraints $constraint }}
{{- end }}
{{- end }}
{{- with $constraints }}{{ toYaml . }}{{ end }}
{{- end }}

{{- /* What the program would refuse only in the pods. */}}
{{- define "rollkeeper.checkRedis" -}}
{{- if eq .Values.coordination "redis" }}
{{- with .Values.redis }}
{{- if and .tls.clientCertificate (not .tls.existingSecret) }}
{{- fail "redis.tls.clientCertificate needs redis.tls.existingSecret, the Secret that holds it" }}
{{- end }}
{{- if not (or .existingSecret .url) }}
{{- fail "redis.url or redis.existingSecret is needed" }}
{{- end }}
{{- if and .tls.existingSecret (not .existingSecret) }}
{{- if not (hasPrefix "rediss" .url) }}
{{- fail "redis.tls.existingSecret needs a redis.url with TLS: rediss://, rediss+sentinel:// or rediss+cluster://" }}
{{- end }}
{{- if and .tls.clientCertificate (not (contains "cert=" .url)) }}
{{- fail "redis.tls.clientCertificate needs a redis.url that names it: ?cert=/etc/rollkeeper/redis-tls/tls.crt&key=/etc/rollkeeper/redis-tls/tls.key" }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "rollkeeper.checkOidc" -}}
{{- with .Values.admin }}
{{- if .oidc.issuerUrl }}
{{- if not .oidc.clientId }}
{{- fail "admin.oidc.issuerUrl needs admin.oidc.clientId" }}
{{- end }}
{{- if not .consoleUrl }}
{{- fail "admin.oidc.issuerUrl needs admin.consoleUrl, where the provider sends browsers back to" }}
{{- end }}
{{- if ne .auth "delegated" }}
{{- fail "admin.oidc.issuerUrl needs admin.auth=delegated: the API server decides what people may see and do" }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Whether the lease is in the API. */}}
{{- define "rollkeeper.hasLease" -}}
{{- if or (eq .Values.coordination "leases") (eq .Values.leaderElection.resourceLock "leases") }}true{{ end }}
{{- end }}

{{- /* A rule of a NetworkPolicy for egress: `to`, everywhere if empty, at `ports` of each of `protocols`. */}}
{{- define "rollkeeper.egress" -}}
{{- $ports := list }}
{{- range $protocol := .protocols }}
{{- range $.rule.ports }}{{ $ports = append $ports (dict "protocol" $protocol "port" (int .)) }}{{ end }}
{{- end }}
{{- $rule := dict "ports" $ports }}
{{- with .rule.to }}{{ $rule = set $rule "to" . }}{{ end }}
{{- list $rule | toYaml }}
{{- end }}

{{- /* The configuration and the rights of the webhook of evictions; some are the cluster's. */}}
{{- define "rollkeeper.evictionsName" -}}
{{- printf "%s-evictions" (include "rollkeeper.fullname" .) }}
{{- end }}

{{- define "rollkeeper.evictionsServiceName" -}}
{{- printf "%s-evictions" (include "rollkeeper.fullname" . | trunc 53 | trimSuffix "-") }}
{{- end }}
