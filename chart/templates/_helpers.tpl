{{/* Names, labels and the parts that every pod has. */}}
{{- define "parley.labels" -}}
app.kubernetes.io/name: parley
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "parley.image" -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- end }}

{{/* The component whose process makes pods, opens ways for them and reads workspaces. */}}
{{- define "parley.maker" -}}
{{ if eq .Values.engine.kind "temporal" }}worker{{ else }}api{{ end }}
{{- end }}

{{/* Components that call the Agent Servers of sandboxes. */}}
{{- define "parley.callers" -}}
{{ if eq .Values.engine.kind "temporal" }}[api, worker]{{ else }}[api]{{ end }}
{{- end }}

{{- define "parley.routes" -}}
{{ .Release.Name }}-routes.{{ .Release.Namespace }}.svc
{{- end }}

{{/* Secret of the first API key. */}}
{{- define "parley.firstKey" -}}
{{ .Values.firstKey.existingSecret | default (printf "%s-first-key" .Release.Name) }}
{{- end }}

{{- define "parley.makesFirstKey" -}}
{{ if and .Values.firstKey.create (not .Values.firstKey.existingSecret) }}yes{{ end }}
{{- end }}

{{/* Where clients reach the API; empty when nobody says so. */}}
{{- define "parley.publicUrl" -}}
{{- if .Values.api.publicUrl }}
{{- .Values.api.publicUrl }}
{{- else if and .Values.ingress.enabled .Values.ingress.hosts }}
{{- $host := first .Values.ingress.hosts }}
{{- $scheme := "http" }}
{{- range .Values.ingress.tls }}{{- if has $host .hosts }}{{- $scheme = "https" }}{{- end }}{{- end }}
{{- $scheme }}://{{ $host }}
{{- else if and .Values.gateway.enabled .Values.gateway.hostnames -}}
https://{{ first .Values.gateway.hostnames }}
{{- end }}
{{- end }}

{{- define "parley.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "parley.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* What every pod has; `root`, `component` and the `values` of that component. */}}
{{- define "parley.pod" -}}
enableServiceLinks: false
securityContext: {{- include "parley.podSecurity" .root | nindent 2 }}
{{- with .root.Values.image.pullSecret }}
imagePullSecrets: [{ name: {{ . }} }]
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.topologySpreadConstraints }}
{{- $own := dict "matchLabels" (include "parley.labels" (dict "root" $.root "component" $.component) | fromYaml) }}
topologySpreadConstraints:
{{- range . }}
  - {{- mergeOverwrite (dict "labelSelector" $own) . | toYaml | nindent 4 }}
{{- end }}
{{- end }}
{{- end }}

{{/* `values` of a component, and `size` of its temporary files. */}}
{{- define "parley.volumes" -}}
- { name: tmp, emptyDir: { sizeLimit: {{ .size }} } }
- { name: config, configMap: { name: {{ .config }} } }
{{- with .values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "parley.volumeMounts" -}}
- { name: data, mountPath: /data }
- { name: tmp, mountPath: /tmp }
- { name: config, mountPath: /etc/parley, readOnly: true }
{{- with .extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "parley.podAnnotations" -}}
{{- with .values.podAnnotations }}
{{- toYaml . }}
{{ end }}
checksum/config: {{ include (print .root.Template.BasePath "/config.yaml") .root | sha256sum }}
{{- end }}

{{/* What opens the store: all that a job of ours needs of secrets. */}}
{{- define "parley.storeEnvironment" -}}
{{- if .Values.seal.secretName }}
- name: PARLEY_SEAL_KEY
  valueFrom: { secretKeyRef: { name: {{ .Values.seal.secretName }}, key: {{ .Values.seal.key }} } }
{{- end }}
{{- if eq .Values.store.kind "postgres" }}
- name: PARLEY_DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ .Values.store.urlSecret.name }}, key: {{ .Values.store.urlSecret.key }} } }
{{- end }}
{{- include "parley.bucketEnvironment" . }}
{{- range .Values.engineEnvironment.variables }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $.Values.engineEnvironment.secretName }}, key: {{ . }} } }
{{- end }}
{{- end }}

{{/* The access key of the bucket, for everybody who reads the configuration of the engine, which names it. */}}
{{- define "parley.bucketEnvironment" -}}
{{- $key := .Values.store.s3.accessKeySecret }}
{{- if and .Values.store.s3.bucket $key.name }}
- name: PARLEY_S3_KEY_ID
  valueFrom: { secretKeyRef: { name: {{ $key.name }}, key: {{ $key.idKey }} } }
- name: PARLEY_S3_SECRET
  valueFrom: { secretKeyRef: { name: {{ $key.name }}, key: {{ $key.secretKey }} } }
{{- end }}
{{- end }}

{{/* Port of the server of the bucket; empty where 80 or 443, which an engine reaches anyway. */}}
{{- define "parley.bucketPort" -}}
{{- if .Values.store.s3.bucket }}
{{- $port := regexFind ":[0-9]+$" .Values.store.s3.endpoint | trimPrefix ":" }}
{{- if not (has $port (list "80" "443" "6443")) }}{{ $port }}{{ end }}
{{- end }}
{{- end }}

{{/* What an engine needs of secrets; the key of the gateway is not among it. */}}
{{- define "parley.engineEnvironment" -}}
- name: PARLEY_PROXY_KEY
  valueFrom: { secretKeyRef: { name: {{ .Values.engineKey.secretName }}, key: {{ .Values.engineKey.key }} } }
{{- include "parley.storeEnvironment" . }}
{{- end }}

{{/* Size and class of the volume of one process. */}}
{{- define "parley.claim" -}}
- metadata: { name: data }
  spec:
    accessModes: [ReadWriteOnce]
    resources: { requests: { storage: {{ .size }} } }
    {{- if .storageClass }}
    storageClassName: {{ .storageClass }}
    {{- end }}
{{- end }}

{{/*
The template of a job's pod: `root`, `component`, `hasToken`, `args` and `env`, all of them lists or text.
A job's template never changes, so who names a job puts a mark of it into the name.
*/}}
{{- define "parley.jobPod" -}}
{{- $jobs := .root.Values.jobs }}
metadata:
  labels: {{- include "parley.labels" (dict "root" .root "component" .component) | nindent 4 }}
  {{- with $jobs.podAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  restartPolicy: Never
  serviceAccountName: {{ .root.Release.Name }}-{{ .component }}
  automountServiceAccountToken: {{ .hasToken }}
  {{- include "parley.pod" (dict "root" .root "component" .component "values" $jobs) | nindent 2 }}
  containers:
    - name: {{ .component }}
      image: {{ include "parley.image" .root }}
      args: {{- toYaml .args | nindent 8 }}
      env: {{- list .env (empty $jobs.extraEnv | ternary "" (toYaml $jobs.extraEnv)) | join "\n" | trim | default "[]" | nindent 8 }}
      resources: {{- toYaml $jobs.resources | nindent 8 }}
      securityContext: {{- include "parley.containerSecurity" .root | nindent 8 }}
      volumeMounts: {{- include "parley.volumeMounts" $jobs | nindent 8 }}
  volumes:
    - { name: data, emptyDir: {} }
    {{- include "parley.volumes" (dict "values" $jobs "config" (printf "%s-engine" .root.Release.Name) "size" "256Mi") | nindent 4 }}
{{- end }}
