import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { PaybellError } from '../plain/errors.ts'
import { hmacSignature } from '../plain/hmac.ts'
import { signForTest } from './sign-for-test.ts'
import { verify } from './verify.ts'

const KEY = 'a-long-random-text-that-only-we-two-know'
const DOCUMENT = { mediaType: 'application/pdf', name: 'a.pdf' }

async function received(document: object) {
  const { body, headers } = await signForTest({
    sharedKey: KEY,
    payment: { document: { ...DOCUMENT, ...document } as never },
  })
  const { payment } = await verify(body, headers, KEY)
  return payment.document ?? assert.fail()
}

test('the file of a callback is there when asked, inline or by link', async (t) => {
  const file = Buffer.from([0, 1, 128, 255])
  const server = createServer((request, response) => {
    const status = Number(request.url?.slice(1))
    response.writeHead(status, status === 302 ? { location: '/200' } : {}).end(file)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = (status: number) =>
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/${status}`

  const inline = await received({ base64EncodedFile: file.toString('base64') })
  assert.deepEqual(Buffer.from(await inline.bytes()), file)
  assert.deepEqual(Object.keys(inline), ['mediaType', 'name', 'base64EncodedFile'])
  const linked = await received({ url: url(200) })
  assert.deepEqual(Buffer.from(await linked.bytes()), file)

  const codeOf = async (document: object) => {
    const error = await (await received(document)).bytes().then(
      () => null,
      (it) => it,
    )
    assert.ok(error instanceof PaybellError)
    return error.code
  }
  assert.equal(await codeOf({}), 'no-document')
  assert.equal(await codeOf({ url: url(410) }), 'link-ended')
  assert.equal(await codeOf({ url: url(404) }), 'unexpected-answer')
  assert.equal(await codeOf({ url: url(302) }), 'network-error')
})

test('an endpoint may have the HMAC under another name', async () => {
  const { body, headers } = await signForTest({ sharedKey: KEY })
  const plain = new Headers(headers as Record<string, string>)
  const mac = await hmacSignature(KEY, body)
  plain.delete('x-paybell-hmac')
  plain.set('x-acme', mac)
  const options = { dialect: 'hmac', hmacHeaderName: 'X-Acme' } as const
  assert.ok((await verify(body, plain, KEY, options)).id)
  await assert.rejects(verify(body, plain, KEY, { dialect: 'hmac' }), /X-Paybell-Hmac is not there/)
  plain.set(
    'x-acme',
    mac.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
  )
  await assert.rejects(
    verify(body, plain, KEY, { hmacHeaderName: 'X-Acme' }),
    /X-Acme was not made/,
  )
})
