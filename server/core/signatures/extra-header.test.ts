import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkHeaderKey, checkHeaderValue } from './extra-header.ts'

test('H1: a name that is no plain token is refused', () => {
  const bad = ['X-A\r\nHost: evil', 'X-A: b', 'X A', '', 'X-Ünï', 'x'.repeat(65), ':authority']
  bad.push('-x', '_x', 'x\0', 'x.y', 'x!', ' x', 'x ', 'x\n')
  for (const name of bad) assert.equal(checkHeaderKey(name)?.code, 'invalid-header-name', name)
})

test('H2: a value that could break a line, or is not printable ASCII, is refused', () => {
  const bad = [
    'a\r\nX: 1',
    'a\nb',
    'a\u0000b',
    'a\u010ab',
    'a\tb',
    'é',
    '',
    ' a',
    'a ',
    ' ',
    'a\u007f',
    'a\n',
  ]
  for (const value of bad) {
    assert.equal(checkHeaderValue(value)?.code, 'invalid-header-value', JSON.stringify(value))
  }
  assert.equal(checkHeaderValue('x'.repeat(1025))?.code, 'too-long')
  for (const value of ['a', 'Basic abc', '~', 'a  b', 'x'.repeat(1024)]) {
    assert.equal(checkHeaderValue(value), null, value)
  }
})

test('regression: names by which servers believe a proxy in front of them are refused', () => {
  for (const name of [
    ...['Proxy', 'X-Real-IP', 'True-Client-IP', 'X-Original-URL', 'X-Rewrite-URL'],
    ...['X-SSL-Client-Verify', 'SSL-Client-Cert', 'X-Client-Cert', 'Client-Cert', 'Early-Data'],
    ...['HTTP2-Settings', 'CF-Connecting-IP', 'X_Real_IP', 'X-HTTP-Method-Override'],
  ]) {
    assert.equal(checkHeaderKey(name)?.code, 'forbidden-header', name)
  }
  for (const name of ['Authorization', 'X-Api-Key', 'X-Client-Id', 'X-Proxy-Token', 'X-Original']) {
    assert.equal(checkHeaderKey(name), null, name)
  }
})

test('H3: each refused name is refused in every spelling', () => {
  const names = [
    'connection',
    'keep-alive',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'host',
  ]
  names.push('expect', 'content-type', 'content-length', 'content-encoding', 'content-anything')
  names.push('proxy-authorization', 'proxy-connection', 'user-agent', 'cookie', 'set-cookie')
  names.push('forwarded', 'x-forwarded-for', 'x-forwarded-host', 'via', 'webhook-id')
  names.push(
    'webhook-signature',
    'x-paybell-hmac',
    'x-paybell-anything',
    'traceparent',
    'tracestate',
  )
  names.push('metadata', 'metadata-flavor', 'x-aws-ec2-metadata-token', 'x-goog-metadata-request')
  names.push('x-google-metadata-request', 'x-ms-version', 'x-azure-ref')
  for (const name of names) {
    const title = name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
    for (const spelling of [name, name.toUpperCase(), title, title.replaceAll('-', '_')]) {
      assert.equal(checkHeaderKey(spelling)?.code, 'forbidden-header', spelling)
    }
  }
})

test('H6: names that are not listed are allowed, Authorization above all', () => {
  for (const name of ['Authorization', 'X-Api-Key', 'x_api_key', 'Date', '1', 'x-paybell']) {
    assert.equal(checkHeaderKey(name), null, name)
  }
  assert.equal(checkHeaderKey('x'.repeat(64)), null)
})

test('whatever passes fits on one header line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      if (checkHeaderKey(text) === null) assert.match(text, /^[\w-]+$/)
      if (checkHeaderValue(text) === null)
        assert.equal(Buffer.from(text, 'latin1').toString(), text)
    }),
  )
})
