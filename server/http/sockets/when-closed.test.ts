import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { whenClosed } from './when-closed.ts'

test('regression: an answer whose caller has hung up before counts as closed', async (t) => {
  const server = createServer()
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const request = get({ host: '127.0.0.1', port }).on('error', () => {})
  const [, answer] = (await once(server, 'request')) as [unknown, ServerResponse]
  const calls: string[] = []
  whenClosed(answer, () => calls.push('early'))
  assert.equal(calls.length, 0)
  request.destroy()
  await once(answer, 'close')
  whenClosed(answer, () => calls.push('late'))
  assert.deepEqual(calls, ['early', 'late'])
})
