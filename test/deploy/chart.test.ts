// The Helm chart: its values conform to its schema and are all that its templates ask for; where helm is installed, what
// it renders is looked at as well.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { parse, parseAllDocuments } from 'yaml'
import { SETTINGS } from '../../server/config/settings.ts'
import { findProgram, skipWithout } from '../support/programs.ts'

const CHART = fileURLToPath(new URL('../../deploy/helm/paybell', import.meta.url))
const read = (name: string) => readFileSync(join(CHART, name), 'utf8')
const values = parse(read('values.yaml'))
const schema = JSON.parse(read('values.schema.json'))

test('the chart, what it starts and the package are of one version', () => {
  const { version } = JSON.parse(readFileSync(join(CHART, '../../../package.json'), 'utf8'))
  const chart = parse(read('Chart.yaml'))
  assert.deepEqual([chart.version, chart.appVersion], [version, version])
})

test('the values conform to their schema, which knows every one of them and refuses others', () => {
  const validate = new Ajv({ allowUnionTypes: true }).compile(schema)
  const conforms = (given: unknown): boolean => validate(given)
  assert.ok(conforms(values), JSON.stringify(validate.errors))
  assert.deepEqual(Object.keys(schema.properties).filter(isOurs), Object.keys(values))
  for (const wrong of [
    { replica: 3 },
    { replicas: 0 },
    { settings: { PAYBELL_MASTER_KEY: 'x' } },
    { secret: { ...values.secret, others: { PAYBELL_MASTER_KEY: 'x' } } },
    { baseUrl: 'payments.example.com' },
  ]) {
    assert.ok(!conforms({ ...values, ...wrong }), JSON.stringify(wrong))
  }
})

/** Helm adds this one by itself. */
const isOurs = (name: string) => name !== 'global'

test('the templates ask for no value that there is not', () => {
  for (const file of globSync('templates/*', { cwd: CHART })) {
    for (const [, path] of read(file).matchAll(/\.Values\.([\w.]+)/g)) {
      const names = (path as string).split('.')
      if (names[0] === 'settings') names.length = 1
      if (names[1] === 'others') names.length = 2
      const value = names.reduce((of, name) => of?.[name], values)
      assert.notEqual(value, undefined, `${file}: ${path}`)
    }
  }
})

test('regression: secrets come as files that only the service reads, never in the environment', () => {
  const text = read('templates/deployment.yaml')
  assert.doesNotMatch(text, /secretKeyRef/)
  for (const [name, key] of [
    ['DATABASE_URL', 'databaseUrlKey'],
    ['PAYBELL_MASTER_KEY', 'masterKeyKey'],
    ['PAYBELL_OPERATOR_KEY', 'operatorKeyKey'],
  ] as const) {
    const file = new RegExp(`name: ${name}_FILE\\n +value: (\\S+)/(\\S+)\\n`).exec(text)
    assert.ok(file, name)
    assert.ok(text.includes(`mountPath: ${file[1]}, readOnly: true`), name)
    assert.ok(text.includes(`{ key: {{ .Values.secret.${key} }}, path: ${file[2]} }`), name)
  }
  // Readable for the group of the pod: the files belong to root.
  assert.match(text, /fsGroup: 10001/)
  assert.match(text, new RegExp(`defaultMode: ${0o440}\\b`))
})

interface Resource {
  kind: string
  metadata: { name: string; labels: Record<string, string> }
  // biome-ignore lint/suspicious/noExplicitAny: what Kubernetes takes has a shape for each kind.
  spec: any
}

/** The oldest that the chart takes. */
const KUBE = ['--kube-version', '1.30.0']

const SET = ['baseUrl=https://payments.example.com']
const ALL = [
  ...SET,
  'ingress.enabled=true',
  'ingress.host=payments.example.com',
  'ingress.tlsSecret=tls',
  'serviceMonitor.enabled=true',
  'serviceMonitor.labels.release=prometheus',
  'networkPolicy.operatorFrom[0].podSelector.matchLabels.app=prometheus',
  'settings.PAYBELL_TRUSTED_PROXIES=10.0.0.0/8',
  'settings.PAYBELL_PROCESSES=4',
  'secret.others.PAYBELL_KAFKA_SASL_PASSWORD=kafka-password',
]

function helm(...args: string[]): string {
  return execFileSync(findProgram('helm') as string, args, { encoding: 'utf8', stdio: 'pipe' })
}

function render(set: readonly string[]): readonly Resource[] {
  const flags = set.flatMap((one) => ['--set', one])
  const text = helm('template', 'bell', CHART, ...KUBE, ...flags)
  return parseAllDocuments(text).map((document) => document.toJS() as Resource)
}

describe('as helm renders it', { skip: skipWithout('helm') }, () => {
  test('helm finds no fault with it', () => {
    helm('lint', '--strict', CHART, ...KUBE, '--set', SET[0] as string)
  })

  test('without an address, or with a value that it does not know, it says what is wrong', () => {
    assert.throws(() => render([]), { stderr: /baseUrl is the address that clients see/ })
    assert.throws(() => render([...SET, 'replica=3']), { stderr: /replica/ })
  })

  test('pods are probed, drained, without rights, and read secrets from files', () => {
    const { spec } = render(ALL).find(({ kind }) => kind === 'Deployment') as Resource
    const pod = spec.template.spec
    const [container] = pod.containers
    assert.equal(container.startupProbe.httpGet.path, '/livez')
    assert.equal(container.livenessProbe.httpGet.path, '/livez')
    assert.equal(container.readinessProbe.httpGet.path, '/readyz')
    assert.equal(container.lifecycle.preStop.sleep.seconds, values.preStopSeconds)
    assert.equal(
      pod.terminationGracePeriodSeconds,
      values.preStopSeconds + values.drainSeconds + 20,
    )
    const { periodSeconds, failureThreshold } = container.readinessProbe
    assert.ok(periodSeconds * failureThreshold < values.drainSeconds)
    assert.equal(pod.securityContext.runAsNonRoot, true)
    assert.equal(container.securityContext.readOnlyRootFilesystem, true)
    assert.deepEqual(container.securityContext.capabilities.drop, ['ALL'])
    const settings = new Map(SETTINGS.map((setting) => [setting.name as string, setting]))
    for (const { name, value } of container.env) {
      const setting = settings.get(name.replace(/_FILE$/, '')) as { secret?: boolean } | undefined
      assert.ok(setting, name)
      assert.equal(name.endsWith('_FILE'), setting.secret === true, name)
      assert.equal(typeof value, 'string', name)
    }
    const [volume] = pod.volumes
    assert.equal(volume.secret.secretName, values.secret.name)
    assert.equal(volume.secret.items.length, 4)
    assert.equal(container.volumeMounts[0].name, volume.name)
  })

  test('other secrets come as files, too, and settings as they are', () => {
    const pod = render(ALL).find(({ kind }) => kind === 'Deployment')?.spec.template.spec
    const env = new Map(
      pod.containers[0].env.map(({ name, value }: { name: string; value: string }) => [
        name,
        value,
      ]),
    )
    assert.equal(env.get('PAYBELL_PROCESSES'), '4')
    const path = 'PAYBELL_KAFKA_SASL_PASSWORD'
    assert.equal(env.get(`${path}_FILE`), `${pod.containers[0].volumeMounts[0].mountPath}/${path}`)
    assert.deepEqual(pod.volumes[0].secret.items.at(-1), { key: 'kafka-password', path })
  })

  test('services, budget, policy and monitor find the pods, and only what is inside the operator', () => {
    const all = render(ALL)
    const one = (kind: string, name = 'bell') =>
      all.find((each) => each.kind === kind && each.metadata.name === name) as Resource
    const { labels } = one('Deployment').spec.template.metadata
    const finds = (selector: object, of: object) =>
      Object.entries(selector).every(([key, value]) => (of as never)[key] === value)
    assert.ok(finds(one('Deployment').spec.selector.matchLabels, labels))
    assert.ok(finds(one('Service').spec.selector, labels))
    assert.ok(finds(one('PodDisruptionBudget').spec.selector.matchLabels, labels))
    assert.ok(finds(one('NetworkPolicy').spec.podSelector.matchLabels, labels))
    const monitored = one('ServiceMonitor').spec.selector.matchLabels
    assert.ok(finds(monitored, one('Service', 'bell-operator').metadata.labels))
    assert.ok(!finds(monitored, one('Service').metadata.labels))
    const [clients, operators] = one('NetworkPolicy').spec.ingress
    assert.deepEqual([clients.ports[0].port, clients.from], ['client', undefined])
    assert.equal(operators.ports[0].port, 'operator')
    assert.equal(operators.from.length, 1)
    const [rule] = one('Ingress').spec.rules
    assert.equal(rule.http.paths[0].backend.service.name, 'bell')
  })

  test('as it comes, no pod reaches the operator, and one replica has no budget', () => {
    const policy = render(SET).find(({ kind }) => kind === 'NetworkPolicy') as Resource
    assert.deepEqual(policy.spec.ingress, [{ ports: [{ port: 'client' }] }])
    const kinds = render([...SET, 'replicas=1']).map(({ kind }) => kind)
    assert.deepEqual(kinds.toSorted(), ['Deployment', 'NetworkPolicy', 'Service', 'Service'])
  })
})
