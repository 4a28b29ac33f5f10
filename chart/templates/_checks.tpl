{{/* What the schema of the values cannot say: each refusal names the value and why. */}}
{{- define "parley.checks" -}}
{{- $temporal := eq .Values.engine.kind "temporal" }}
{{- if eq .Values.sandboxes.namespace .Release.Namespace }}
{{- fail "sandboxes.namespace must not be the namespace of this release: whoever makes sandboxes may read every secret there" }}
{{- end }}
{{- if and $temporal (ne .Values.store.kind "postgres") }}
{{- fail "engine.kind temporal needs store.kind postgres: API and worker are two processes and share no file" }}
{{- end }}
{{- if and $temporal (not .Values.engine.temporal.address) }}
{{- fail "engine.kind temporal needs engine.temporal.address" }}
{{- end }}
{{- if and $temporal (not .Values.seal.secretName) }}
{{- fail "engine.kind temporal needs seal.secretName: API and worker open the same secrets" }}
{{- end }}
{{- if and (eq .Values.store.kind "postgres") (not .Values.store.urlSecret.name) }}
{{- fail "store.kind postgres needs store.urlSecret.name" }}
{{- end }}
{{- if and .Values.store.s3.bucket (not .Values.store.s3.endpoint) (not .Values.store.s3.region) }}
{{- fail "store.s3.bucket needs store.s3.region, or store.s3.endpoint for a server beside AWS" }}
{{- end }}
{{- if and .Values.store.s3.accessKeySecret.name (not .Values.store.s3.bucket) }}
{{- fail "store.s3.accessKeySecret.name needs store.s3.bucket" }}
{{- end }}
{{- if and .Values.engineEnvironment.variables (not .Values.engineEnvironment.secretName) }}
{{- fail "engineEnvironment.variables needs engineEnvironment.secretName" }}
{{- end }}
{{- include "parley.oneProcess" . }}
{{- include "parley.gatewayKey" . }}
{{- include "parley.outside" . }}
{{- include "parley.extras" . }}
{{- end }}

{{/* Where state is on one node, a second process has another one. */}}
{{- define "parley.oneProcess" -}}
{{- $api := .Values.api }}
{{- if eq .Values.engine.kind "embedded" }}
{{- if gt (int $api.replicas) 1 }}
{{- fail "api.replicas must be 1 with engine.kind embedded: one process owns the data directory, and its volume is on one node" }}
{{- end }}
{{- if $api.autoscaling.enabled }}
{{- fail "api.autoscaling needs engine.kind temporal: with the embedded engine one process owns the data directory, and its volume is on one node" }}
{{- end }}
{{- end }}
{{- if gt (int $api.autoscaling.minReplicas) (int $api.autoscaling.maxReplicas) }}
{{- fail "api.autoscaling.minReplicas must not be above api.autoscaling.maxReplicas" }}
{{- end }}
{{- if and $api.autoscaling.enabled (not $api.autoscaling.cpuPercent) (not $api.autoscaling.memoryPercent) }}
{{- fail "api.autoscaling needs cpuPercent or memoryPercent" }}
{{- end }}
{{- if and (gt (int .Values.worker.replicas) 1) (eq .Values.engine.kind "embedded") }}
{{- fail "worker.replicas above 1 needs engine.kind temporal: the embedded engine has no workers" }}
{{- end }}
{{- if and (gt (int .Values.worker.replicas) 1) (not .Values.store.s3.bucket) }}
{{- fail "worker.replicas above 1 needs store.s3.bucket: without it archives and results are files on the volume of the worker that wrote them, and another one would not find them" }}
{{- end }}
{{- $proxy := .Values.proxy }}
{{- if and (gt (int $proxy.replicas) 1) (not $proxy.store.urlSecret.name) }}
{{- fail "proxy.replicas above 1 needs proxy.store.urlSecret.name, a database that the proxies have in common: without one each would spend every budget by itself" }}
{{- end }}
{{- if and $proxy.store.urlSecret.name (eq $proxy.store.urlSecret.name .Values.store.urlSecret.name) (eq $proxy.store.urlSecret.key .Values.store.urlSecret.key) }}
{{- fail "proxy.store.urlSecret must not be that of store: calls of the engine pass through both, and one database would count them twice" }}
{{- end }}
{{- if and $proxy.store.urlSecret.name (not (has "PROXY_MASTER_KEY" $proxy.secretEnvironment.variables)) }}
{{- fail "proxy.store.urlSecret.name needs PROXY_MASTER_KEY in proxy.secretEnvironment.variables: what the proxies share is sealed with it" }}
{{- end }}
{{- if $proxy.autoscaling.enabled }}
{{- fail "proxy.autoscaling must be off: a proxy that is scaled away leaves rows of spend on its volume until one starts there again; proxy.replicas may be any number" }}
{{- end }}
{{- end }}

{{/* Nobody but the proxy reads the secret of the gateway. */}}
{{- define "parley.gatewayKey" -}}
{{- $gateway := .Values.proxy.secretEnvironment.secretName }}
{{- $named := dict "engineKey.secretName" .Values.engineKey.secretName "engineEnvironment.secretName" .Values.engineEnvironment.secretName "seal.secretName" .Values.seal.secretName "store.urlSecret.name" .Values.store.urlSecret.name "proxy.store.urlSecret.name" .Values.proxy.store.urlSecret.name "firstKey.existingSecret" .Values.firstKey.existingSecret "store.s3.accessKeySecret.name" .Values.store.s3.accessKeySecret.name }}
{{- range $path, $name := $named }}
{{- if eq $name $gateway }}
{{- fail (printf "%s must not be the secret of the gateway: only the proxy may read that" $path) }}
{{- end }}
{{- end }}
{{- range $component := list "api" "worker" "jobs" }}
{{- $values := index $.Values $component }}
{{- range $values.extraEnv }}
{{- $from := .valueFrom | default dict }}
{{- $ref := $from.secretKeyRef | default dict }}
{{- if eq ($ref.name | default "") $gateway }}
{{- fail (printf "%s.extraEnv must not read the secret of the gateway: only the proxy may read that" $component) }}
{{- end }}
{{- end }}
{{- range $values.extraVolumes }}
{{- $sources := list (.secret | default dict) }}
{{- $projected := .projected | default dict }}
{{- range $projected.sources }}{{- $sources = append $sources (.secret | default dict) }}{{- end }}
{{- range $sources }}
{{- if or (eq (.secretName | default "") $gateway) (eq (.name | default "") $gateway) }}
{{- fail (printf "%s.extraVolumes must not mount the secret of the gateway: only the proxy may read that" $component) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "parley.outside" -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}
{{- fail "ingress.enabled needs ingress.hosts" }}
{{- end }}
{{- if and .Values.gateway.enabled (or (not .Values.gateway.parentRefs) (not .Values.gateway.hostnames)) }}
{{- fail "gateway.enabled needs gateway.parentRefs and gateway.hostnames" }}
{{- end }}
{{- $external := .Values.externalSecrets }}
{{- if and $external.enabled (not $external.storeRef.name) }}
{{- fail "externalSecrets.enabled needs externalSecrets.storeRef.name" }}
{{- end }}
{{- if $external.enabled }}
{{- $needs := dict "engineEnvironment" (list .Values.engineEnvironment.secretName "engineEnvironment.secretName") "seal" (list .Values.seal.secretName "seal.secretName") "database" (list .Values.store.urlSecret.name "store.urlSecret.name") "firstKey" (list .Values.firstKey.existingSecret "firstKey.existingSecret") }}
{{- range $what, $need := $needs }}
{{- if and (index $external.remote $what) (not (first $need)) }}
{{- fail (printf "externalSecrets.remote.%s needs %s, the name of the secret that it fills" $what (last $need)) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled (not (has .Values.serviceMonitor.proxyKey .Values.proxy.secretEnvironment.variables)) }}
{{- fail "serviceMonitor.proxyKey must be one of proxy.secretEnvironment.variables: the proxy shows its metrics to its master key only" }}
{{- end }}
{{- end }}

{{/* Names that pods have already. */}}
{{- define "parley.extras" -}}
{{- range $component := list "api" "worker" "proxy" "jobs" }}
{{- $values := index $.Values $component }}
{{- range $values.extraVolumes }}
{{- if has .name (list "data" "tmp" "config") }}
{{- fail (printf "%s.extraVolumes must not be called %q: every pod has one of that name" $component .name) }}
{{- end }}
{{- end }}
{{- range $values.extraVolumeMounts }}
{{- if has (.mountPath | trimSuffix "/") (list "/data" "/tmp" "/etc/parley" "") }}
{{- fail (printf "%s.extraVolumeMounts must not be at %q: something is there already" $component .mountPath) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
