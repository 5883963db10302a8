{{- define "paybell.labels" -}}
app.kubernetes.io/name: paybell
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "paybell.selector" -}}
app.kubernetes.io/name: paybell
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
