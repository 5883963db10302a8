// A cell on a Citus cluster, served by the real command: an endpoint that fails is shown to fail, and what is accepted while the
// cell's node is killed and comes back arrives once and in order.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { callCommand } from '../support/called-command.ts'
import { Caller } from '../support/caller.ts'
import { NO_CITUS, startCitus } from '../support/citus-cluster.ts'
import { readCertificate } from '../support/raw-receiver.ts'
import { startReceiver } from '../support/receiver.ts'
import { SERVED_OPERATOR_KEY, startServe, untilServed } from '../support/served.ts'
import { until } from '../support/until.ts'

if (NO_CITUS) console.log(`skipped: ${NO_CITUS}`)

const CA_FILE = fileURLToPath(new URL('../support/certificates/ca.pem', import.meta.url))
const CELL = '1'
const PAYMENTS = 6
const ROUNDS_BESIDE_A_DEAD_NODE = 4

test('a distributed cell shows what fails, and loses nothing when its node is killed', {
  skip: NO_CITUS,
}, async (t) => {
  const cluster = await startCitus(t)
  const env = {
    DATABASE_URL: cluster.url,
    PAYBELL_MASTER_KEY: randomBytes(32).toString('base64'),
    PAYBELL_OPERATOR_KEY: SERVED_OPERATOR_KEY,
    PAYBELL_ALLOWED_NETWORKS: '127.0.0.0/8',
    PAYBELL_EXTRA_CA_FILE: CA_FILE,
  }
  const made = await callCommand(['cells', 'create', CELL, '--json'], { env })
  assert.equal(made.code, 0, made.stderr)
  assert.equal(JSON.parse(made.stdout).isDistributed, true)
  const listed = async () => {
    const ran = await callCommand(['cells', 'list', '--json'], { env })
    assert.equal(ran.code, 0, ran.stderr)
    return JSON.parse(ran.stdout).cells[0]
  }
  const { node } = await listed()

  const served = startServe(t, { url: cluster.url }, { ...env, PAYBELL_CELL: CELL })
  const baseUrl = await untilServed(served)
  const caller = await onboard(baseUrl)
  const tls = { key: readCertificate('server.key'), cert: readCertificate('good.pem') }
  const receiver = await startReceiver(t, tls)
  const failing = await startReceiver(t, tls)
  failing.answer = 500
  await caller.addWebhook(receiver.url(), 'a key of some length')
  const failingId = await caller.addWebhook(failing.url(), 'a key of some length')
  const payments = await Promise.all(Array.from({ length: PAYMENTS }, () => caller.write()))

  await t.test(
    'regression: an endpoint that fails is listed as failing, with its error',
    async () => {
      const found = await until('its health is stored', async () => {
        const answer = await caller.operate('GET', '/endpoints?failing=true')
        const { content } = (await answer.json()) as { content: { id: string; health: object }[] }
        return content.find(({ id }) => id === failingId)
      })
      assert.match(JSON.stringify(found.health), /"failingSince":"2.*answered 500/)
      assert.doesNotMatch(served.stdout(), /engine\.poll-failed|lane\.care-failed/)
    },
  )

  await t.test(
    'what is sent while its node is dead is accepted once it is back, once and in order',
    async () => {
      const restart = await cluster.killNode(Number(node.split(':')[1]))
      const problem = (await listed()).problem
      assert.match(problem, /./, 'a cell on a dead node is listed with why')
      let isBack = false
      const writing = payments.map(async (id) => {
        for (let round = 2; round < 2 + ROUNDS_BESIDE_A_DEAD_NODE; round++) {
          await until(`update ${round} is accepted`, async () => {
            const changes = { version: round, reference: String(round), document: undefined }
            const answer = await caller.putSample(id, changes).catch(() => null)
            // Beside a dead node it is told to come again, and nothing else.
            if (answer !== null && !answer.ok) assert.equal(answer.status, 503, await answer.text())
            return answer?.ok === true && isBack
          })
        }
      })
      await restart()
      isBack = true
      await Promise.all(writing)
      await receiver.hasSeen(({ accepted }) => {
        const ids = new Set(accepted.map(({ headers }) => headers['webhook-id']))
        return ids.size >= PAYMENTS * (1 + ROUNDS_BESIDE_A_DEAD_NODE)
      })
      for (const id of payments) {
        const bodies = receiver.accepted.map(({ body }) => JSON.parse(body.toString()))
        const references = bodies
          .filter((one) => one.id === id)
          .map(({ reference }) => Number(reference))
        assert.deepEqual([...new Set(references)], [1, 2, 3, 4, 5])
        assert.deepEqual(references, references.toSorted(), 'in order, however often')
      }
      assert.equal((await listed()).problem, null)
    },
  )
})

async function onboard(baseUrl: string): Promise<Caller> {
  const facts = { baseUrl, operatorKey: SERVED_OPERATOR_KEY }
  const operator = new Caller({ ...facts, clientId: '', clientSecret: '', accountId: '' })
  const post = async (path: string) => {
    const answer = await operator.operate('POST', path, { name: 'Test' })
    assert.equal(answer.status, 201, await answer.clone().text())
    return (await answer.json()) as Record<string, string>
  }
  const { clientId = '', clientSecret = '' } = await post('/clients')
  const { id: accountId = '' } = await post(`/clients/${clientId}/accounts`)
  return new Caller({ ...facts, clientId, clientSecret, accountId })
}
