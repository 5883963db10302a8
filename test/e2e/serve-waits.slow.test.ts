// `paybell serve` whose database is not there yet: a real process, which waits as long as its settings say.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { startCommand } from '../support/command-line.ts'
import { cloneDatabase, testServerUrl } from '../support/database.ts'
import { startTcpProxy } from '../support/database-proxy.ts'
import { freePort } from '../support/free-port.ts'
import { onServer } from '../support/test-server.ts'

/** Nothing listens there. */
const NOWHERE = 'postgres://x:hidden-word@127.0.0.1:1/x'

function serve(t: TestContext, databaseUrl: string, waitSeconds: number) {
  return startCommand(t, ['serve'], {
    env: {
      PORT: '0',
      DATABASE_URL: databaseUrl,
      PAYBELL_DATABASE_WAIT_SECONDS: String(waitSeconds),
      PAYBELL_MASTER_KEY: randomBytes(32).toString('base64'),
      PAYBELL_OPERATOR_KEY: randomBytes(32).toString('base64url'),
    },
  })
}

describe('waiting for the database', { concurrency: true }, () => {
  test('regression: serve waits for a database that is started after it, and takes no writes yet', async (t) => {
    const { url } = await cloneDatabase()
    const name = new URL(url).pathname.slice(1)
    const setReadOnly = async (value: string) =>
      onServer(await testServerUrl(), (client) =>
        client.query(`alter database ${name} set default_transaction_read_only = ${value}`),
      )
    await setReadOnly('on')
    const port = await freePort()
    const way = new URL(url)
    way.searchParams.delete('host')
    way.host = `127.0.0.1:${port}`
    const service = serve(t, way.href, 600)
    await service.hasPrinted(/"reason":"[^"]*ECONNREFUSED[^"]*".*"database\.awaited"/)
    await startTcpProxy(t, url, { port })
    await service.hasPrinted(/takes no writes.*"database\.awaited"/)
    await setReadOnly('off')
    await service.hasPrinted(/"msg":"database\.reached"/)
    await service.hasPrinted(/"msg":"paybell\.ready"/)
    service.process.kill('SIGTERM')
    assert.equal((await service.ended).code, 0)
  })

  test('when the time is up it ends with one sentence and exit code 1', async (t) => {
    const { code, stderr } = await serve(t, NOWHERE, 1).ended
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^paybell: the database could not be used within 1 second \(PAYBELL_DATABASE_WAIT_SECONDS\): .*ECONNREFUSED.* Start PostgreSQL, or correct host and port in DATABASE_URL\.\n$/,
    )
    assert.ok(!stderr.includes('hidden-word'))
  })

  test('with a wait of 0 it does not wait', async (t) => {
    const { code, stdout, stderr } = await serve(t, NOWHERE, 0).ended
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^paybell: the database of DATABASE_URL cannot be used: .*ECONNREFUSED.* Start PostgreSQL, .*\n$/,
    )
    assert.ok(!stdout.includes('database.awaited'))
  })

  test('SIGTERM ends the wait with exit code 0', async (t) => {
    const service = serve(t, NOWHERE, 600)
    await service.hasPrinted(/"database\.awaited"/)
    service.process.kill('SIGTERM')
    const { code, stderr } = await service.ended
    assert.equal(code, 0)
    assert.equal(stderr, '')
  })

  test('what no waiting mends ends it at once', async (t) => {
    const { url } = await cloneDatabase()
    const wrong = new URL(url)
    wrong.password = 'wrong'
    const { code, stdout, stderr } = await serve(t, wrong.href, 600).ended
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^paybell: the database of DATABASE_URL cannot be used: password authentication failed/,
    )
    assert.ok(!stdout.includes('database.awaited'))
  })
})
