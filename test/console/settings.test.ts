// The console's own rules about an endpoint's settings and a certificate's end, without a browser.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearness } from '../../console/src/pages/certificates/nearness.ts'
import {
  errorsIn,
  MARK,
  readSettingsForm,
  type ShownSettings,
} from '../../console/src/pages/endpoint/settings-form.ts'
import { EVENT_KINDS } from '../../sdk/src/internal/words.ts'

const PEM = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----'
const HOUR_MS = 3_600_000

/** The form as it is shown, with what a person then changed. */
function filled(change: Readonly<Record<string, string>>): FormData {
  const form = new FormData()
  for (const kind of EVENT_KINDS) form.append(`${MARK}event`, kind)
  const fields = {
    deliver: 'every',
    document: 'inline',
    signatures: 'hmac',
    hmacHeaderName: 'X-Paybell-Hmac',
    ...change,
  }
  for (const [name, value] of Object.entries(fields)) form.append(MARK + name, value)
  return form
}

test('of the settings only what was changed is sent, and of tls only the part', () => {
  const tls = { clientCertificate: 'default', certificateAuthorities: [`${PEM}\n`, `${PEM}\n`] }
  const both = { clientCertificate: 'default', certificateAuthorities: `${PEM}\r\n${PEM}` }
  assert.deepEqual(readSettingsForm(filled({}), {}), {})
  assert.deepEqual(readSettingsForm(filled(both), { tls }), {})
  assert.deepEqual(readSettingsForm(filled({ ...both, clientCertificate: '' }), { tls }), {
    tls: { clientCertificate: null },
  })
  assert.deepEqual(readSettingsForm(filled({ ...both, certificateAuthorities: PEM }), { tls }), {
    tls: { certificateAuthorities: PEM },
  })
  assert.deepEqual(readSettingsForm(filled({ clientCertificate: 'default' }), {}), {
    tls: { clientCertificate: 'default' },
  })
  assert.deepEqual(readSettingsForm(filled({ document: 'link' }), {}), { document: 'link' })
})

test('of the token all that is given is sent, and its secret only when it was entered', () => {
  const oauth2 = {
    tokenUrl: 'https://bank.example/token',
    clientId: 'paybell',
    privateKeyJwt: false,
    authentication: 'post',
    scope: 'webhooks',
    audience: null,
  } as const
  const { tokenUrl, clientId, scope } = oauth2
  const fields = { proof: 'post', tokenUrl, clientId, scope }
  const read = (change: object, shown: ShownSettings = { oauth2 }) =>
    readSettingsForm(filled({ ...fields, ...change }), shown)
  assert.deepEqual(read({}), {})
  assert.deepEqual(read({ proof: '' }, {}), {})
  assert.deepEqual(read({ proof: '' }), { oauth2: null })
  const secret = { clientSecret: 'of-the-bank' }
  const given = { tokenUrl, clientId, authentication: 'post', scope }
  assert.deepEqual(read(secret), { oauth2: { ...given, ...secret } })
  assert.deepEqual(read({ audience: 'bank' }), { oauth2: { ...given, audience: 'bank' } })
  assert.deepEqual(read({ proof: 'key', scope: '', ...secret }), {
    oauth2: { tokenUrl, clientId, privateKeyJwt: true },
  })
  const keyed = { ...oauth2, privateKeyJwt: true }
  assert.deepEqual(read({ proof: 'key' }, { oauth2: keyed }), {})
})

test('what is wrong with a setting as a whole is found, and what is wrong with a part of it', () => {
  const errorOf = errorsIn({
    fields: [
      { pointer: '/tls', detail: 'whole' },
      { pointer: '/events/0', detail: 'part' },
    ],
  })
  assert.equal(errorOf('/tls/clientCertificate'), undefined)
  assert.equal(errorOf('/tls', true), 'whole')
  assert.equal(errorOf('/events'), 'part')
  assert.equal(errorOf('/events', true), undefined)
})

test('the end of a certificate is said in words 30, 7 and 1 days before, and after it', () => {
  const said = (hours: number) => {
    const near = nearness(hours * HOUR_MS)
    return near && `${near.text} ${near.tone}`
  }
  assert.equal(said(30 * 24 + 1), null)
  assert.equal(said(30 * 24), 'ENDS IN 30 DAYS warn')
  assert.equal(said(7 * 24 + 1), 'ENDS IN 8 DAYS warn')
  assert.equal(said(7 * 24), 'ENDS IN 7 DAYS bad')
  assert.equal(said(25), 'ENDS IN 2 DAYS bad')
  assert.equal(said(24), 'ENDS WITHIN A DAY bad')
  assert.equal(said(0), 'ENDED bad')
})
