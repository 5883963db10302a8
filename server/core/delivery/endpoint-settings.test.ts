import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkHmacHeaderName, isSameHeader } from '../signatures/hmac-header-name.ts'
import { changeSettings, DEFAULT_SETTINGS, settingTexts } from './endpoint-settings.ts'

test('an endpoint whose owner gives no setting has none', () => {
  assert.equal(changeSettings(null, {}), null)
})

test('what is given replaces, and what is not given stays', () => {
  const first = changeSettings(null, { events: ['payment.paid'] })
  assert.deepEqual(first, { ...DEFAULT_SETTINGS, events: ['payment.paid'] })
  const second = changeSettings(first, { deliver: 'latest', description: 'Ledger' })
  assert.deepEqual(second, { ...first, deliver: 'latest', description: 'Ledger' })
  assert.equal(changeSettings(second, {}), second)
  assert.equal(changeSettings(second, { events: null })?.events, null)
})

test('settings have a line each for the trail', () => {
  assert.deepEqual(settingTexts(DEFAULT_SETTINGS), {
    events: 'all',
    deliver: 'every',
    document: 'inline',
    signatures: 'hmac',
    hmacHeaderName: 'X-Paybell-Hmac',
    description: '',
    tls: '',
    oauth2: '',
  })
})

test('the HMAC may have any name of its own, and none that is used for other things', () => {
  const accepted = ['X-Hub-Signature-256', 'X-Acme-Hmac', 'X-1', `X-${'a'.repeat(60)}`]
  for (const name of [...accepted, 'X-Paybell-Hmac', 'X-paybell-hmac']) {
    assert.equal(checkHmacHeaderName(name), null, name)
  }
  const misspelt = ['', 'X-', 'x-acme', 'Acme', 'X-a b', 'X-a_b', 'X-ä', `X-${'a'.repeat(61)}`]
  for (const name of [...misspelt, 'X-a\r\nX-b', 'webhook-id', 'Authorization']) {
    assert.equal(checkHmacHeaderName(name)?.code, 'invalid-header-name', name)
  }
  const used = ['Event', 'Sequence', 'Attempt', 'Hmac-Previous', 'Test', 'Replay', 'Key-Id', 'New']
  const refused = used.map((name) => `X-Paybell-${name}`)
  for (const name of [...refused, 'X-paybell-EVENT', 'X-Forwarded-For', 'X-Aws-Ec2-Metadata']) {
    assert.equal(checkHmacHeaderName(name)?.code, 'forbidden-header', name)
  }
})

test('two spellings that receivers fold are one header', () => {
  assert.ok(isSameHeader('X-Acme_Key', 'x-acme-key'))
  assert.ok(!isSameHeader('X-Acme-Key', 'X-Acme-Keys'))
})
