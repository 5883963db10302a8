import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE, sampleWrite } from '../../../test/support/payment-sample.ts'
import { applyChange } from '../payments/payment-change.ts'
import { callbackBodyParts } from './callback.ts'

const textOf = (changes: Record<string, unknown> = {}) =>
  applyChange(null, SAMPLE.quoteId, sampleWrite(changes), 0).stored.text
const base64 = Buffer.from(SAMPLE.document.base64EncodedFile)

test('the file is the last member of the document, and everything else is the text', () => {
  for (const text of [textOf(), Buffer.from(textOf())]) {
    const body = Buffer.concat(callbackBodyParts(text, base64)).toString()
    const { version, ...sent } = SAMPLE
    assert.deepEqual(JSON.parse(body), { ...sent, complete: false })
    assert.ok(body.endsWith('"name":"receipt.pdf","base64EncodedFile":"JVBERi0="}}'))
    assert.ok(body.startsWith(textOf().slice(0, -2)))
  }
})

test('P3: the amount in the body has the digits of the text', () => {
  const text = textOf({ document: null }).replace('12345.67', '9007199254740993.250')
  assert.match(Buffer.concat(callbackBodyParts(text, null)).toString(), /9007199254740993\.250,/)
})

test('the file is not copied', () => {
  assert.equal(callbackBodyParts(textOf(), base64)[2], base64)
})

test('without a document the body is the text', () => {
  const odd = '}}'
  const text = textOf({ document: undefined, documentReference: odd, reference: 'grün 😀' })
  assert.deepEqual(callbackBodyParts(text, null), [Buffer.from(text)])
})

test('a document without its file, or a file without a document, is our own mistake', () => {
  assert.throws(() => callbackBodyParts(textOf(), null), /document without its file/)
  assert.throws(() => callbackBodyParts(textOf({ document: null }), base64), /file without/)
})
