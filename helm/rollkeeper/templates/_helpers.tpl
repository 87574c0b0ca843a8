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
{{- printf "%s%s" $namespaces $selector | trim }}
{{- end }}

{{- /* Whether the release that is there works on something else. */}}
{{- define "rollkeeper.scopeChanges" -}}
{{- $there := lookup "apps/v1" "Deployment" .Release.Namespace (include "rollkeeper.fullname" .) }}
{{- if $there }}
{{- $scope := get ($there.metadata.annotations | default dict) "rollkeeper.dev/scope" }}
{{- if ne ($scope | default "") (include "rollkeeper.scope" .) }}true{{ end }}
{{- end }}
{{- end }}
