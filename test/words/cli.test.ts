// What the command line says to those who get it wrong: it names what they need to put it right, in words that they know,
// and ends with 2 for a command that was not tried and 1 for one that failed. The service listens on a port of its own.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { callCommand } from '../support/called-command.ts'
import { cloneDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { OPERATOR_KEY, onboard, serveHttp } from '../support/injected-server.ts'
import { assertPlain } from './plain-words.ts'

const SERVICE = {
  PAYBELL_MASTER_KEY: randomBytes(32).toString('base64'),
  PAYBELL_OPERATOR_KEY: OPERATOR_KEY,
}

const NO_FILE = 'there is no such file'

type Wrong = readonly [
  line: string,
  env: Record<string, string>,
  exitCode: number,
  says: readonly string[],
]

test('each wrong command is told what is wrong and what to do', async (t) => {
  const { pool } = await cloneDatabase()
  const server = await serveHttp(t, pool)
  const url = await server.app.listen({ host: '127.0.0.1', port: 0 })
  // Nothing listens there.
  const port = await freePort()
  const nowhere = `http://127.0.0.1:${port}`
  const client = await onboard(server)
  const dir = await mkdtemp(join(tmpdir(), 'paybell-words-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  const empty = { XDG_CONFIG_HOME: dir, PAYBELL_DATA_DIR: dir }
  const asOperator = { ...empty, PAYBELL_URL: url, PAYBELL_OPERATOR_KEY: OPERATOR_KEY }
  const asClient = {
    ...empty,
    PAYBELL_URL: url,
    PAYBELL_CLIENT_ID: client.clientId,
    PAYBELL_CLIENT_SECRET: client.clientSecret,
    PAYBELL_ACCOUNT_ID: client.accountId,
  }
  const missing = join(dir, 'missing')
  const database = `postgres://paybell@127.0.0.1:${port}/paybell`
  const wrong: readonly Wrong[] = [
    ['payment list', empty, 2, ['payments?', '--help']],
    ['payments', empty, 2, ['Usage: paybell payments', 'erase']],
    ['payments show', empty, 2, ["missing required argument 'payment'", '--help']],
    ['payments list --stat PAID', empty, 2, ['--state?', '--help']],
    ['webhooks list', empty, 2, ['paybell login', '--url', dir]],
    ['clients list', empty, 2, ['--url', 'PAYBELL_OPERATOR_KEY', dir]],
    ['clients list', { ...empty, PAYBELL_URL: url }, 2, ['PAYBELL_OPERATOR_KEY', '--key-file']],
    ['webhooks list', { ...empty, PAYBELL_URL: url }, 2, ['PAYBELL_CLIENT_ID', 'paybell login']],
    [
      'webhooks list',
      { ...empty, PAYBELL_URL: url, PAYBELL_CLIENT_ID: client.clientId },
      2,
      ['only one of PAYBELL_CLIENT_ID and PAYBELL_CLIENT_SECRET'],
    ],
    ['webhooks list', { ...asClient, PAYBELL_URL: nowhere }, 1, [nowhere, '--url or PAYBELL_URL']],
    [
      'webhooks list',
      { ...asClient, PAYBELL_CLIENT_SECRET: 'wrong' },
      1,
      ['(401 invalid-credentials)', 'Check PAYBELL_CLIENT_ID', 'request '],
    ],
    [
      'clients list',
      { ...asOperator, PAYBELL_OPERATOR_KEY: 'wrong-wrong-wrong-wrong-wrong-wrong' },
      1,
      ['(401 invalid-token)', 'check PAYBELL_OPERATOR_KEY', 'request '],
    ],
    [`clients list --key-file ${missing}`, { ...empty, PAYBELL_URL: url }, 2, [missing, NO_FILE]],
    [`payments import ${missing}`, asOperator, 2, [missing, NO_FILE]],
    [`payments show ${randomUUID()}`, asOperator, 1, ['(404 not-found)', 'request ']],
    ['payments show 1', asOperator, 2, ["argument 'payment'", 'Give a uuid', '--help']],
    [`payments erase ${randomUUID()}`, asOperator, 2, ['cannot be undone', '--yes']],
    [`signing-keys revoke ${randomUUID()}`, asOperator, 2, ['cannot be undone', '--yes']],
    ['deliveries list --since yesterday', asOperator, 2, ['--since', "'yesterday'", '2h']],
    ['deliveries list --state LOST', asOperator, 2, ['--state', "'LOST'", 'PENDING']],
    ['endpoints list --size 0', asOperator, 2, ['--size', 'from 1 to 100']],
    [
      'webhooks register hook --generate-key',
      asClient,
      1,
      ['(400 invalid-fields)', '/callbackUrl: ', 'https://'],
    ],
    [
      'webhooks register https://10.0.0.1/hook --generate-key',
      asClient,
      1,
      ['(400 invalid-fields)', '/callbackUrl: Use a public address'],
    ],
    ['listen --forward-to ftp://localhost/hook', asClient, 2, ['--forward-to', 'http://']],
    [`receipt verify ${missing}`, asClient, 2, [missing, NO_FILE]],
    ['serve', {}, 2, ['DATABASE_URL', 'PAYBELL_MASTER_KEY', 'openssl', 'PAYBELL_OPERATOR_KEY']],
    ['migrate', { ...SERVICE, DATABASE_URL: database }, 1, ['DATABASE_URL', 'Start PostgreSQL']],
  ]
  for (const [line, env, code, says] of wrong) {
    const told = await callCommand(line.split(' '), { env })
    const words = `${told.stdout}${told.stderr}`
    assert.equal(told.code, code, `${line}: ${words}`)
    assertPlain(line, words)
    for (const each of says) assert.ok(words.includes(each), `${line}, ${each}: ${words}`)
  }
})
