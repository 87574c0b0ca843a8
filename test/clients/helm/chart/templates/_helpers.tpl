{{- define "beacon.name" -}}
{{- .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "beacon.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "beacon.selectorLabels" -}}
app.kubernetes.io/name: {{ include "beacon.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "beacon.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{ include "beacon.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "beacon.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}{{ include "beacon.fullname" . }}{{ else }}default{{ end -}}
{{- end -}}

{{- define "beacon.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* Of every job of the application. */}}
{{- define "beacon.jobSpec" -}}
backoffLimit: {{ .root.Values.migrations.backoffLimit }}
activeDeadlineSeconds: 300
template:
  metadata:
    labels:
      app.kubernetes.io/name: {{ include "beacon.name" .root }}-{{ .task }}
      app.kubernetes.io/instance: {{ .root.Release.Name }}
    {{- with .root.Values.migrations.annotations }}
    annotations:
      {{- toYaml . | nindent 6 }}
    {{- end }}
  spec:
    restartPolicy: Never
    containers:
      - name: {{ .task }}
        image: {{ include "beacon.image" .root }}
        args: [{{ .task | quote }}]
{{- end -}}
