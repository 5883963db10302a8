import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { createResolver } from './resolver.ts'

const never = () => new Promise<string[]>(() => {})
const fails = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))

test('both families are asked once, and answers of both come back', async () => {
  const asked: string[] = []
  const resolve = createResolver({
    resolve4: async (name) => {
      asked.push(`A ${name}`)
      return ['8.8.8.8']
    },
    resolve6: async (name) => {
      asked.push(`AAAA ${name}`)
      return ['2606:4700::1']
    },
  })
  assert.deepEqual(await resolve('a.example'), ['8.8.8.8', '2606:4700::1'])
  assert.deepEqual(asked, ['A a.example', 'AAAA a.example'])
})

test('one family alone is enough', async () => {
  const ipv4 = createResolver({ resolve4: async () => ['8.8.8.8'], resolve6: fails })
  const ipv6 = createResolver({ resolve4: fails, resolve6: async () => ['2606:4700::1'] })
  assert.deepEqual(await ipv4('a.example'), ['8.8.8.8'])
  assert.deepEqual(await ipv6('a.example'), ['2606:4700::1'])
})

test('a name server that never answers AAAA does not use up the time to connect', async () => {
  const resolve = createResolver({ resolve4: async () => ['8.8.8.8'], resolve6: never })
  const keepAlive = setInterval(() => {}, 1_000)
  assert.deepEqual(await resolve('a.example'), ['8.8.8.8'])
  clearInterval(keepAlive)
})

test('a name without any address is an error', async () => {
  await assert.rejects(createResolver({ resolve4: fails, resolve6: fails })('a.example'))
})

/** A name server on loopback that answers A with 8.8.8.8 and AAAA with nothing. */
async function startNameServer(t: TestContext) {
  const asked: string[] = []
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  socket.on('message', (query, from) => {
    const labels: string[] = []
    let at = 12
    for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + size))
      at += 1 + size
    }
    const isA = query.readUInt16BE(at + 1) === 1
    asked.push(`${isA ? 'A' : 'AAAA'} ${labels.join('.')}`)
    const header = Buffer.from([0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0])
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 8, 8, 8, 8])
    const parts = [query.subarray(0, 2), header, query.subarray(12, at + 5)]
    socket.send(Buffer.concat(isA ? [...parts, answer] : parts), from.port, from.address)
  })
  return { asked, address: `127.0.0.1:${socket.address().port}` }
}

test('names go to the name server as they are: no search domain, no hosts file, no cache', async (t) => {
  const server = await startNameServer(t)
  const source = new Resolver({ timeout: 60_000, tries: 1 })
  source.setServers([server.address])
  const resolve = createResolver(source)
  for (const name of ['a.example', 'a.example', 'localhost']) {
    assert.deepEqual(await resolve(name), ['8.8.8.8'], name)
  }
  assert.deepEqual(server.asked.toSorted(), [
    'A a.example',
    'A a.example',
    'A localhost',
    'AAAA a.example',
    'AAAA a.example',
    'AAAA localhost',
  ])
})
