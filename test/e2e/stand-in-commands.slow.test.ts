// Commands against a stand-in for the service, which answers what a real one answers only seldom: how often they ask,
// and what they say when they are put off or get nothing.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { callCommand } from '../support/called-command.ts'

const dir = await mkdtemp(join(tmpdir(), 'paybell-stand-in-'))
after(() => rm(dir, { recursive: true, force: true }))

const ID = '01a1dd3c-57d6-7001-9e6f-60de241483ec'

/** Gives a token to anyone; `answer` says the rest. */
async function standIn(answer: (asked: string, body: string) => { status?: number; body: object }) {
  const asked = { tokens: 0, calls: 0 }
  const server = createServer(async (request, response) => {
    const sent = await text(request)
    const isToken = request.url === '/auth/token'
    if (isToken) asked.tokens++
    else asked.calls++
    const token = { access_token: 'a', token_type: 'Bearer', expires_in: 3_600 }
    const { status = 200, body } = isToken
      ? { body: token }
      : answer(`${request.method} ${request.url}`, sent)
    const headers = { 'content-type': 'application/json', 'retry-after': '0' }
    response.writeHead(status, headers).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const env = {
    PAYBELL_URL: url,
    PAYBELL_CLIENT_ID: ID,
    PAYBELL_CLIENT_SECRET: 'canary',
    PAYBELL_ACCOUNT_ID: ID,
  }
  return { asked, env, url, close: () => server.close() }
}

test('regression: a feed that is followed is read with one token, not with one for each look', async (t) => {
  let looks = 0
  const { asked, env, close } = await standIn(() => {
    looks++
    const items = [{ id: `e${looks}`, event: 'payment.created', payment: {} }]
    return { body: { items: looks % 2 === 0 ? items : [], next: String(looks) } }
  })
  t.after(close)
  const args = ['events', 'follow', '--count', '2', '--every', '0s', '--json']
  const { code, stdout, stderr } = await callCommand(args, { env })
  assert.equal(code, 0, stderr)
  assert.equal(stdout.trim().split('\n').length, 2)
  assert.deepEqual(asked, { tokens: 1, calls: 4 })
})

test('regression: at the end of the feed it is not said that there is more', async (t) => {
  const { env, close } = await standIn(() => ({ body: { items: [], next: 'the-end' } }))
  t.after(close)
  const { code, stderr } = await callCommand(['events', 'list'], { env })
  assert.equal(code, 0, stderr)
  assert.equal(stderr, 'There are no more events.\nWhat comes after: --after the-end\n')
})

test('regression: an import waits when it is put off, and its progress is whole at any moment', async (t) => {
  const file = join(dir, 'endpoints.csv')
  const addresses = ['a', 'b', 'c'].map((name) => `https://${name}.example/,k`)
  await writeFile(file, ['url,secret', ...addresses, ''].join('\n'))
  const state = `${file}.import`
  const progress: { done: number; inode: number }[] = []
  let calls = 0
  const { env, close } = await standIn(() => {
    if (existsSync(state)) {
      const { done } = JSON.parse(readFileSync(state, 'utf8'))
      progress.push({ done, inode: statSync(state).ino })
    }
    const problem = { status: 429, code: 'too-many-requests', title: 'Too many requests' }
    return ++calls === 2 ? { status: 429, body: problem } : { body: {} }
  })
  t.after(close)
  const { code, stdout, stderr } = await callCommand(['webhooks', 'import', file], { env })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /3 webhooks are registered/)
  assert.match(stderr, /too-many-requests/)
  assert.deepEqual(
    progress.map(({ done }) => done),
    [1, 1, 2],
  )
  // Replaced by a whole file, never written over: half a file would end the import for good.
  assert.notEqual(progress[1]?.inode, progress[2]?.inode)
})

test('regression: a secret is printed although the call after the one that made it fails', async (t) => {
  const away = {
    status: 503,
    code: 'database-away',
    title: 'The database is away',
    detail: 'Away.',
  }
  const service = await standIn((asked) => {
    if (/POST .*\/(clients|secrets|register)$/.test(asked)) {
      return { status: 201, body: { clientId: ID, secretId: ID, clientSecret: 'shown-once' } }
    }
    if (/GET .*\/clients\//.test(asked)) return { body: { secrets: [{ secretId: ID }] } }
    return { status: 503, body: away }
  })
  t.after(service.close)
  const env = { ...service.env, PAYBELL_OPERATOR_KEY: 'an-operator-key' }
  for (const args of [
    ['clients', 'create', 'Acme', '--account', 'Main'],
    ['clients', 'rotate', ID, '--revoke-old'],
  ]) {
    const said = await callCommand(args, { env })
    assert.match(said.stdout, /^Client secret +shown-once$/m)
    assert.match(said.stderr, /database-away/)
    assert.equal(said.code, 1)
    const json = await callCommand([...args, '--json'], { env })
    assert.equal(JSON.parse(json.stdout).clientSecret, 'shown-once')
    assert.equal(json.code, 1)
  }
  const register = ['webhooks', 'register', 'https://shop.example/hooks', '--generate-key']
  const said = await callCommand(register, { env })
  assert.match(said.stdout, /^Shared key +\S{43}$/m)
  assert.equal(said.code, 1)
  const json = await callCommand([...register, '--json'], { env })
  assert.match(JSON.parse(json.stdout).sharedKey, /^\S{43}$/)
  assert.equal(json.code, 1)
})

test('regression: what is made after the count is not in what is replayed', async (t) => {
  const ends: unknown[] = []
  const { env, close } = await standIn((_asked, sent) => {
    const { filter, until } = JSON.parse(sent)
    ends.push(filter?.to ?? until)
    return { body: { wouldReplay: 1, replayed: 1, wouldQueue: 1, queued: 1, endpoints: [] } }
  })
  t.after(close)
  const keyed = { ...env, PAYBELL_OPERATOR_KEY: 'an-operator-key' }
  for (const args of [
    ['recover', '--since', '2h'],
    ['webhooks', 'replay-missing', ID, '--since', '2h'],
  ]) {
    ends.length = 0
    const { code, stderr } = await callCommand([...args, '--yes'], { env: keyed })
    assert.equal(code, 0, stderr)
    assert.ok(Date.parse(String(ends[0])) <= Date.now(), String(ends[0]))
    assert.equal(ends[1], ends[0])
  }
  ends.length = 0
  await callCommand(['recover', '--since', '2099-01-01', '--dry-run'], { env: keyed })
  assert.deepEqual(ends, [undefined], 'a period of the future has no end')
})

test('regression: a profile names a service: its audit is verified, not that of a database nearby', async () => {
  const env = { DATABASE_URL: 'postgres://127.0.0.1:1/paybell', XDG_CONFIG_HOME: dir }
  const ran = await callCommand(['audit', 'verify', '--profile', 'ops'], { env })
  assert.match(ran.stderr, /there is no profile ops/)
  assert.equal(ran.code, 2)
})

test('regression: keys of a receipt that cannot be had are said in a sentence that helps', async () => {
  const verify = (...args: string[]) =>
    callCommand(['receipt', 'verify', '-', ...args], { input: 'a.b.c' })
  const { url, close } = await standIn(() => ({ body: {} }))
  const none = await verify('--url', url)
  assert.equal(none.code, 2)
  assert.match(none.stderr, /the answer of http.* has no public keys/)
  close()
  const away = await verify('--url', url)
  assert.equal(away.code, 1)
  assert.match(away.stderr, /^paybell: http.* cannot be reached: nothing listens there/)
})
