import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { fromWhpk, toWhpk } from './webhook-key.ts'

test('a public key is the same 32 bytes as JWK and as whpk_', () => {
  for (const bytes of [Buffer.alloc(32), Buffer.alloc(32, 255), randomBytes(32)]) {
    const x = bytes.toString('base64url')
    const whpk = toWhpk(x)
    assert.equal(whpk, `whpk_${bytes.toString('base64')}`)
    assert.equal(fromWhpk(whpk), x)
  }
})

test('what is no whpk_ is none: another prefix, another length, another spelling', () => {
  const whpk = toWhpk(Buffer.alloc(32, 1).toString('base64url'))
  const others = ['', 'whpk_', whpk.slice(5), `${whpk} `, whpk.replace('=', ''), `${whpk}AAAA`]
  for (const text of [...others, whpk.replace('whpk_', 'whsec_'), 'whpk_äöü']) {
    assert.equal(fromWhpk(text), null, text)
  }
})
