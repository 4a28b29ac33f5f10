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

{{- define "parley.routes" -}}
{{ .Release.Name }}-routes.{{ .Release.Namespace }}.svc
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

{{/* What an engine needs of secrets; the key of the gateway is not among it. */}}
{{- define "parley.engineEnvironment" -}}
- name: PARLEY_PROXY_KEY
  valueFrom: { secretKeyRef: { name: {{ .Values.engineKey.secretName }}, key: {{ .Values.engineKey.key }} } }
{{- if .Values.seal.secretName }}
- name: PARLEY_SEAL_KEY
  valueFrom: { secretKeyRef: { name: {{ .Values.seal.secretName }}, key: {{ .Values.seal.key }} } }
{{- end }}
{{- if eq .Values.store.kind "postgres" }}
- name: PARLEY_DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ .Values.store.urlSecret.name }}, key: {{ .Values.store.urlSecret.key }} } }
{{- end }}
{{- range .Values.engineEnvironment.variables }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $.Values.engineEnvironment.secretName }}, key: {{ . }} } }
{{- end }}
{{- end }}

{{- define "parley.volumeMounts" -}}
- { name: data, mountPath: /data }
- { name: tmp, mountPath: /tmp }
- { name: config, mountPath: /etc/parley, readOnly: true }
{{- end }}

{{/* `claim`: size and class of the volume of one process. */}}
{{- define "parley.claim" -}}
- metadata: { name: data }
  spec:
    accessModes: [ReadWriteOnce]
    resources: { requests: { storage: {{ .size }} } }
    {{- if .storageClass }}
    storageClassName: {{ .storageClass }}
    {{- end }}
{{- end }}

{{- define "parley.checks" -}}
{{- if eq .Values.sandboxes.namespace .Release.Namespace }}
{{- fail "sandboxes.namespace must not be the namespace of this release: whoever makes sandboxes may read every secret there" }}
{{- end }}
{{- if and (eq .Values.engine.kind "temporal") (ne .Values.store.kind "postgres") }}
{{- fail "engine.kind temporal needs store.kind postgres: API and worker are two processes and share no file" }}
{{- end }}
{{- if and (eq .Values.engine.kind "temporal") (not .Values.engine.temporal.address) }}
{{- fail "engine.kind temporal needs engine.temporal.address" }}
{{- end }}
{{- if and (eq .Values.engine.kind "temporal") (not .Values.seal.secretName) }}
{{- fail "engine.kind temporal needs seal.secretName: API and worker open the same secrets" }}
{{- end }}
{{- if and (eq .Values.store.kind "postgres") (not .Values.store.urlSecret.name) }}
{{- fail "store.kind postgres needs store.urlSecret.name" }}
{{- end }}
{{- if eq .Values.engineKey.secretName .Values.proxy.secretEnvironment.secretName }}
{{- fail "engineKey.secretName must not be the secret of the gateway: only the proxy may read that" }}
{{- end }}
{{- if eq .Values.engineEnvironment.secretName .Values.proxy.secretEnvironment.secretName }}
{{- fail "engineEnvironment.secretName must not be the secret of the gateway: only the proxy may read that" }}
{{- end }}
{{- end }}
