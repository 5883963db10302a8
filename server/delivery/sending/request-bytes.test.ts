import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { joined, toBeginning, toRequestBytes } from './request-bytes.ts'

const BEGINNING = toBeginning('/a%20b?c=d', '[::1]:8443')

test('a request is its line, its host, its headers in order, its length and its body', () => {
  const body = [Buffer.from('{'), Buffer.from('}')]
  const bytes = toRequestBytes(BEGINNING, ['X-A', 'é', 'x-b', ''], body) ?? assert.fail()
  const head =
    'POST /a%20b?c=d HTTP/1.1\r\nhost: [::1]:8443\r\nconnection: keep-alive\r\nX-A: é\r\nx-b: \r\ncontent-length: 2\r\n\r\n'
  assert.equal(joined(bytes).toString('latin1'), `${head}{}`)
})

test('no smuggling: whatever the headers are, the head has one line for each, or is not made', () => {
  const odd = fc.constantFrom('\r', '\n', '\r\n', '\0', ':', ' ', '\u010a', '\u010d', '\x7f', 'a')
  const text = fc.oneof(
    fc.string(),
    fc.array(odd, { maxLength: 4 }).map((parts) => parts.join('')),
  )
  const name = fc.oneof(text, fc.constantFrom('x-a', 'Authorization', 'HOST', 'Content-length'))
  fc.assert(
    fc.property(fc.array(fc.tuple(name, text), { maxLength: 4 }), (headers) => {
      const request = toRequestBytes(BEGINNING, headers.flat(), [])
      if (request === null) return
      const bytes = joined(request).toString('latin1')
      const lines = bytes.split(/[\r\n\0]+/)
      assert.equal(lines.length, 3 + headers.length + 1 + 1)
      assert.equal(bytes.indexOf('\r\n\r\n'), bytes.length - 4)
      assert.equal(bytes.match(/^(?:host|content-length|transfer-encoding):/gim)?.length, 2)
      for (const [at, [given, value]] of headers.entries()) {
        assert.equal(lines[3 + at], `${given}: ${value}`)
      }
    }),
    { numRuns: 2_000 },
  )
})
