import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { after, test } from 'node:test'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import { Api, keyBearer, RefusedError, UnreachableError } from './api.ts'
import { problemText } from './problem-text.ts'
import { paintFor } from './terminal.ts'

const PROBLEM = {
  type: 'http://x/problems/invalid-fields',
  title: 'The request body is invalid',
  status: 400,
  detail: 'One field is invalid.',
  instance: 'urn:request:abc-1',
  code: 'invalid-fields',
  errors: [{ pointer: '/name', code: 'missing', detail: 'Is required.\u001b[2J' }],
}

const seen: { url: string; authorization: string | undefined; body: string }[] = []
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  seen.push({
    url: request.url ?? '',
    authorization: request.headers.authorization,
    body: Buffer.concat(chunks).toString(),
  })
  if (request.url === '/problem' || request.url === '/refused') {
    response.writeHead(request.url === '/refused' ? 401 : 400, {
      'content-type': 'application/problem+json',
    })
    response.end(JSON.stringify(PROBLEM))
  } else if (request.url === '/proxy') {
    response.writeHead(502, { 'x-request-id': 'from-header' }).end('<html>Bad gateway</html>')
  } else if (request.url === '/moved') response.writeHead(302, { location: 'http://x/' }).end()
  else if (request.url === '/cut') request.socket.destroy()
  else response.end('{"amount":{"amount":100.00}}')
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
after(() => server.close())
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const api = new Api({ url: `${url}/`, bearer: keyBearer('key'), refusedHint: 'Check the key.' })

test('an answer keeps its text, digit for digit', async () => {
  const answer = await api.get('/x', { a: 1, none: undefined, list: ['p', 'q'] })
  assert.equal(answer.text, '{"amount":{"amount":100.00}}')
  assert.deepEqual(seen.at(-1), {
    url: '/x?a=1&list=p%2Cq',
    authorization: 'Bearer key',
    body: '',
  })
})

test('a problem is one block: title, detail, fields, request id, and no control characters', async () => {
  const error = await api.post('/problem', { name: 1 }).catch((caught) => caught)
  assert.ok(error instanceof PaybellError)
  assert.equal(
    problemText(error, paintFor(false)),
    [
      'paybell: The request body is invalid (400 invalid-fields)',
      '  One field is invalid.',
      '  /name: Is required.\\u001b[2J',
      '  request abc-1',
    ].join('\n'),
  )
})

test('an answer that is no problem of ours is reported all the same', async () => {
  const error = await api.get('/proxy').catch((caught) => caught)
  assert.ok(error instanceof PaybellError)
  assert.equal(
    problemText(error, paintFor(false)),
    'paybell: The service refused (502)\n  request from-header',
  )
})

test('no answer, a cut connection and a redirect differ from answers', async () => {
  for (const path of ['/cut', '/moved']) {
    await assert.rejects(api.get(path), UnreachableError)
  }
})

test('regression: https to a port of plain HTTP says which scheme to use', async () => {
  const secure = url.replace('http:', 'https:')
  const wrong = new Api({ url: secure, bearer: keyBearer('key'), refusedHint: '' })
  await assert.rejects(wrong.get('/x'), {
    message: `${secure} cannot be reached: that port speaks plain HTTP, not TLS. Begin the address with http://, or give the port that speaks TLS.`,
  })
})

test('regression: http to a port of TLS says which scheme to use', async (t) => {
  // The alert "unexpected message", as OpenSSL answers plain HTTP, and the page of a proxy.
  const alert = Buffer.from('15030100020216', 'hex')
  const page = 'HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\nConnection: close\r\n\r\noops'
  for (const answer of [alert, page]) {
    const tls = createTcpServer((socket) => socket.once('data', () => socket.end(answer)))
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve))
    t.after(() => tls.close())
    const at = `http://127.0.0.1:${(tls.address() as AddressInfo).port}`
    const wrong = new Api({ url: at, bearer: keyBearer('key'), refusedHint: '' })
    await assert.rejects(wrong.get('/x'), /If that port speaks TLS, begin the address with https:/)
  }
})

test('a refused key comes with what to check', async () => {
  const error = await api.get('/refused').catch((caught) => caught)
  assert.ok(error instanceof RefusedError)
  assert.equal(
    problemText(error, paintFor(false)),
    'paybell: The request body is invalid (401 invalid-fields)\n  One field is invalid.\n  /name: Is required.\\u001b[2J\n  Check the key.\n  request abc-1',
  )
})

test('a value keeps the digits of its amounts', async () => {
  assert.deepEqual((await api.get('/x')).json(), { amount: { amount: '100.00' } })
})
