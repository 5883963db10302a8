import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SETTINGS } from '../../server/config/config.ts'
import { CALLER_SETTINGS } from '../basics/settings.ts'
import { findMisspelt } from './misspelt.ts'

function nearestTo(name: string): string | null | undefined {
  return findMisspelt({ [name]: 'a-canary' })[0]?.nearest
}

test('every setting, its file and what the command line reads are known', () => {
  const env = Object.fromEntries([
    ...[...SETTINGS, ...CALLER_SETTINGS].map(({ name }) => [name, 'x']),
    ...SETTINGS.filter((one) => 'secret' in one).map(({ name }) => [`${name}_FILE`, 'x']),
  ])
  assert.deepEqual(findMisspelt(env), [])
})

test('regression: a misspelt setting is found, with the one that was meant', () => {
  for (const [name, meant] of [
    ['PAYBELL_ALOWED_NETWORKS', 'PAYBELL_ALLOWED_NETWORKS'],
    ['PAYBELL_TIMESCALE', 'PAYBELL_TIME_SCALE'],
    ['PAYBELL_OPERATOR_PROT', 'PAYBELL_OPERATOR_PORT'],
    ['PAYBELL_RETENTION_DAY', 'PAYBELL_RETENTION_DAYS'],
    ['PAYBELL_MASTERKEY', 'PAYBELL_MASTER_KEY'],
    ['PAYBELL_MASTER_KEYFILE', 'PAYBELL_MASTER_KEY_FILE'],
    ['paybell_base_url', 'PAYBELL_BASE_URL'],
    ['PAYBELL_TRUSTED_PROXYS', 'PAYBELL_TRUSTED_PROXIES'],
    ['PAYBELL_EXTRA_CAFILE', 'PAYBELL_EXTRA_CA_FILE'],
    ['PAYBELL_EXTRA_CA', 'PAYBELL_EXTRA_CA_FILE'],
  ] as const) {
    assert.equal(nearestTo(name), meant, name)
  }
  assert.equal(nearestTo('PAYBELL_FLUX_CAPACITOR'), null, 'like none of them')
})

test('values are in nothing that is found', () => {
  const found = findMisspelt({ PAYBELL_OPERATORKEY: 'a-canary', PAYBELL_X: 'a-canary' })
  assert.equal(found.length, 2)
  assert.doesNotMatch(JSON.stringify(found), /canary/)
})

test('what others set, or is for the project’s own tools, is passed over', () => {
  assert.deepEqual(
    findMisspelt({
      HOME: '/root',
      MY_PAYBELL_THING: 'x',
      PAYBELL_TEST_SERVER_URL: 'x',
      PAYBELL_CHROMIUM: 'x',
      PAYBELL_SERVICE_HOST: '10.0.0.1',
      PAYBELL_SERVICE_PORT_HTTP: '8080',
      PAYBELL_PORT: 'tcp://10.0.0.1:8080',
      PAYBELL_PORT_8080_TCP_ADDR: '10.0.0.1',
      PAYBELL_METRICS_SERVICE_PORT: '8081',
    }),
    [],
  )
  assert.equal(findMisspelt({ PAYBELL_PORT: '8080' }).length, 1, 'PORT was meant')
})
