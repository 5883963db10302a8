import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { test } from 'node:test'
import { makeRequestKey, writeRequest } from './certificate-request.ts'
import { readSubject, type Subject } from './subject.ts'

const SUBJECT = 'CN=paybell.example, O=Société Générale\\, SA, C=FR'

function subjectOf(text: string): Subject {
  const subject = readSubject(text)
  assert.ok(!('refused' in subject), JSON.stringify(subject))
  return subject
}

test('a request names the subject and is signed by its own key', async () => {
  const key = await makeRequestKey()
  const pem = writeRequest(subjectOf(SUBJECT), key)
  const bytes = Buffer.from(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64')
  // The outer sequence and the one within both have lengths of two bytes.
  const infoLength = 4 + bytes.readUInt16BE(6)
  const info = bytes.subarray(4, 4 + infoLength)
  const signature = bytes.subarray(-256)
  assert.ok(verify('sha256', info, createPublicKey(key), signature))
  assert.ok(info.includes('Société Générale, SA'))
  assert.ok(info.includes(createPublicKey(key).export({ type: 'spki', format: 'der' })))
})

test('openssl reads it, and finds the signature right', async (t) => {
  const pem = writeRequest(subjectOf(SUBJECT), await makeRequestKey())
  const read = spawnSync(
    'openssl',
    ['req', '-verify', '-noout', '-subject', '-nameopt', 'RFC2253,utf8'],
    {
      input: pem,
      encoding: 'utf8',
    },
  )
  if (read.error) return t.skip('openssl is not on this machine')
  assert.equal(read.status, 0, read.stderr)
  assert.match(read.stderr + read.stdout, /verif/i)
  assert.match(read.stdout, /C=FR,O=Soci.*SA,CN=paybell\.example/)
})

test('a subject that cannot be written is refused, and told how', () => {
  const refusal = (text: string) => {
    const subject = readSubject(text)
    return 'refused' in subject ? subject.refused : 'nothing is refused'
  }
  assert.match(refusal('paybell'), /CN=paybell\.example/)
  assert.match(refusal('O=Example'), /common name/)
  assert.match(refusal('CN='), /1 to 64/)
  assert.match(refusal(`CN=${'x'.repeat(65)}`), /1 to 64/)
  assert.match(refusal('CN=a, C=Brazil'), /two capital letters/)
  assert.match(refusal('CN=a\u0000b'), /control/)
  assert.match(refusal(`CN=${'x'.repeat(500)}`), /500/)
  assert.match(refusal('CN=a, SERIALNUMBER=ä'), /letters, digits/)
  assert.match(refusal('CN=a, __proto__=b'), /any of CN/)
  assert.deepEqual(subjectOf('cn = a=b , o=c'), [
    { name: 'CN', value: 'a=b' },
    { name: 'O', value: 'c' },
  ])
})
