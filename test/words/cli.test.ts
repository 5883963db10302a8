// What the command line says to those who get it wrong (cli.txt). The service behind it listens on a port of its own.

import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { callCommand } from '../support/called-command.ts'
import { cloneDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { OPERATOR_KEY, onboard, serveHttp } from '../support/injected-server.ts'
import { assertKept, assertPlain, type Told } from './kept-words.ts'

const SERVICE = {
  PAYBELL_MASTER_KEY: randomBytes(32).toString('base64'),
  PAYBELL_OPERATOR_KEY: OPERATOR_KEY,
}

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
  const wrong: readonly (readonly [string, Record<string, string>])[] = [
    ['payment list', empty],
    ['payments', empty],
    ['payments show', empty],
    ['payments list --stat PAID', empty],
    ['webhooks list', empty],
    ['clients list', empty],
    ['clients list', { ...empty, PAYBELL_URL: url }],
    ['webhooks list', { ...empty, PAYBELL_URL: url }],
    ['webhooks list', { ...empty, PAYBELL_URL: url, PAYBELL_CLIENT_ID: client.clientId }],
    ['webhooks list', { ...asClient, PAYBELL_URL: nowhere }],
    ['webhooks list', { ...asClient, PAYBELL_CLIENT_SECRET: 'wrong' }],
    [
      'clients list',
      { ...asOperator, PAYBELL_OPERATOR_KEY: 'wrong-wrong-wrong-wrong-wrong-wrong' },
    ],
    [`clients list --key-file ${missing}`, { ...empty, PAYBELL_URL: url }],
    [`payments import ${missing}`, asOperator],
    [`payments show ${randomUUID()}`, asOperator],
    ['payments show 1', asOperator],
    [`payments erase ${randomUUID()}`, asOperator],
    [`signing-keys revoke ${randomUUID()}`, asOperator],
    ['deliveries list --since yesterday', asOperator],
    ['deliveries list --state LOST', asOperator],
    ['endpoints list --size 0', asOperator],
    ['webhooks register hook --generate-key', asClient],
    ['webhooks register https://10.0.0.1/hook --generate-key', asClient],
    ['listen --forward-to ftp://localhost/hook', asClient],
    [`receipt verify ${missing}`, asClient],
    ['serve', {}],
    ['migrate', { ...SERVICE, DATABASE_URL: `postgres://paybell@127.0.0.1:${port}/paybell` }],
  ]
  const told: Told[] = []
  for (const [line, env] of wrong) {
    const { code, stderr, stdout } = await callCommand(line.split(' '), { env })
    const words = `${stdout}${stderr}`
      .replaceAll(url, 'http://localhost:8080')
      .replaceAll(dir, '/home/you')
      .replaceAll(/(?<=^ +request )\S+/gm, '<id>')
      .replaceAll(String(port), '8080')
    told.push([
      `paybell ${line.replaceAll(dir, '/home/you')}`,
      `${words.trim()}\nexit code ${code}.`,
    ])
  }
  for (const one of told) assertPlain(one)
  assertKept('cli.txt', told)
})
