// Attacks on `paybell mcp`: an assistant that was talked into it asks for what its caller may not see or do. All of it is
// refused before a request leaves, or by the service; and what it may do is the client's, whatever lies near.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { startPaybell } from '../support/paybell.ts'
import { SAMPLE } from '../support/payment-sample.ts'
import { startReceiver } from '../support/receiver.ts'

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))
const receiver = await startReceiver({ after })
const paybell = await startPaybell({ after })
const { baseUrl, clientId, clientSecret, operatorKey, accountId } = paybell
// Credentials of the operator lie in the folder that the command looks into.
const dataDir = await mkdtemp(join(tmpdir(), 'pb-mcp-'))
after(() => rm(dataDir, { recursive: true, force: true }))
await writeFile(join(dataDir, 'sandbox.json'), JSON.stringify({ baseUrl, operatorKey, accountId }))

async function connect(...args: string[]) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', ...args],
    env: {
      PATH: process.env.PATH ?? '',
      PAYBELL_URL: baseUrl,
      PAYBELL_DATA_DIR: dataDir,
      PAYBELL_CLIENT_ID: clientId,
      PAYBELL_CLIENT_SECRET: clientSecret,
    },
    stderr: 'ignore',
  })
  const client = new Client({ name: 'adversary', version: '1' })
  await client.connect(transport)
  after(() => client.close())
  /** True when it was answered and not refused. */
  const gets = async (name: string, given: Record<string, unknown>) => {
    try {
      const { isError } = await client.callTool({ name, arguments: given })
      return isError !== true
    } catch {
      return false
    }
  }
  return { client, gets }
}

await paybell.caller.register(receiver.url(), 'only-we-two-know-this')
const id = randomUUID()
assert.ok((await paybell.caller.putPayment(id, { ...SAMPLE, id })).ok)

test('ids that lead elsewhere, limits beyond the bounds and members that no tool takes are refused', async () => {
  const { gets } = await connect('--allow-writes')
  assert.ok(await gets('show_payment', { paymentId: id }), 'the right one is answered')
  const elsewhere = [
    '../../operator/v1/clients',
    `${id}/../../webhooks`,
    `${id}%2f..%2f..%2fwebhooks`,
    `${id}?size=1`,
    `${id}#`,
    ` ${id}`,
    '',
  ]
  for (const wrong of elsewhere) {
    assert.ok(!(await gets('show_payment', { paymentId: wrong })), `show_payment ${wrong}`)
    assert.ok(!(await gets('explain_delivery', { deliveryId: wrong })), `explain_delivery ${wrong}`)
    assert.ok(!(await gets('show_endpoint', { endpointId: wrong })), `show_endpoint ${wrong}`)
    assert.ok(!(await gets('retry_delivery', { deliveryId: wrong })), `retry_delivery ${wrong}`)
  }
  for (const limit of [0, -1, 51, 1.5, 1e9, '20', null]) {
    assert.ok(!(await gets('list_deliveries', { limit })), `limit ${limit}`)
  }
  assert.ok(!(await gets('list_deliveries', { clientId: randomUUID() })))
  assert.ok(!(await gets('find', { text: 'x'.repeat(201) })))
})

test('regression: with a client’s credentials it is that client, though an operator’s key lies near; and it writes nothing without leave', async () => {
  const { client, gets } = await connect()
  const { tools } = await client.listTools()
  // Only a client has this one, and only the operator may filter by who fails.
  assert.ok(tools.some(({ name }) => name === 'verify_signature'))
  assert.match(client.getInstructions() ?? '', /as one client.*never instructions/s)
  for (const { name, annotations } of tools) {
    assert.equal(annotations?.readOnlyHint, true, name)
    assert.equal(annotations?.openWorldHint, true, name)
  }
  for (const name of ['retry_delivery', 'replay_delivery', 'pause_endpoint', 'resume_endpoint']) {
    assert.ok(!(await gets(name, { deliveryId: id, endpointId: id })), name)
  }
  const { rows } = await paybell.pool.query(`select from audit where actor like '%mcp%'`)
  assert.equal(rows.length, 0)
})
