import assert from 'node:assert/strict'
import { createServer, type ListenOptions } from 'node:net'
import { test } from 'node:test'
import { describeListenFailure } from './listen-failure.ts'

/** What Node says when it cannot listen there. */
function failureOf(options: ListenOptions): Promise<Error> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', resolve)
    server.listen(options, () => server.close(() => reject(new Error('it could'))))
  })
}

const at = { setting: 'PORT', host: '127.0.0.1', port: 8080 }

test('regression: a taken port names the setting and what to do', async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const failure = await failureOf({ host: '127.0.0.1', port })
  const described = describeListenFailure(failure, {
    ...at,
    setting: 'PAYBELL_OPERATOR_PORT',
    port,
  })
  assert.ok(described instanceof Error)
  assert.equal(described.cause, failure)
  assert.equal(
    described.message,
    `port ${port} on 127.0.0.1 is taken. Stop what listens there, or choose another port with PAYBELL_OPERATOR_PORT; 0 takes a free one.`,
  )
})

test('an address of another machine, and one that is none, name HOST', async () => {
  for (const host of ['192.0.2.1', 'no-such-host.invalid']) {
    const described = describeListenFailure(await failureOf({ host, port: 0 }), { ...at, host })
    assert.match(String(described), new RegExp(`${host.replaceAll('.', '\\.')} .* with HOST;`))
  }
})

test('a port that this user may not use is explained, too; other errors stay as they are', () => {
  const denied = Object.assign(new Error('listen EACCES'), { code: 'EACCES' })
  assert.match(String(describeListenFailure(denied, { ...at, port: 80 })), /port 80 .* with PORT/)
  const other = new Error('something else')
  assert.equal(describeListenFailure(other, at), other)
})
