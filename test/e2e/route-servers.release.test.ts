// Two cells, each on a PostgreSQL of its own, behind `paybell route` as a real process: a client moves from one to the
// other under load, and when one cell ends, the clients of the other notice nothing.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { moveClient } from '../../server/operations/clients/move-client.ts'
import { Caller } from '../support/caller.ts'
import { startCommand } from '../support/command-line.ts'
import { moveUnderLoad } from '../support/move-under-load.ts'
import { addClient, until } from '../support/paybell.ts'
import { startTestServer } from '../support/test-server.ts'
import { startTwoCells } from '../support/two-cells.ts'

const server = await startTestServer()
after(() => server.stop())
const cells = await startTwoCells({ after }, { server: server.url })
const { first, seventh, operatorKey } = cells

const route = startCommand({ after }, ['route'], {
  env: {
    PORT: '0',
    PAYBELL_ROUTE_CELLS: `0=${first.baseUrl},7=${seventh.baseUrl}`,
    PAYBELL_ROUTE_KEY: operatorKey,
    PAYBELL_DRAIN_SECONDS: '0',
  },
})
const [, baseUrl = ''] = await route.hasPrinted(/"baseUrl":"([^"]+)".*"msg":"route\.ready"/)
const at = <Facts extends object>(facts: Facts) => ({ ...facts, baseUrl, operatorKey })

test('a client moves to another server under load: 0 lost, 0 doubled, 0 out of order', async (t) => {
  const facts = await addClient(first, 'Moves')
  const told = await moveUnderLoad(t, {
    facts: at(facts),
    move: () => moveClient({ ...cells.move, clientId: facts.clientId }),
  })
  t.diagnostic(told)
})

test('while one cell is gone its clients get 503, and those of the other notice nothing', async (t) => {
  const zero = new Caller(at(first))
  const seven = new Caller(at(seventh))
  await Promise.all([zero.token(), seven.token()])
  await seventh.stop()
  const times: number[] = []
  for (let n = 0; n < 100; n++) {
    const id = randomUUID()
    const startedAt = performance.now()
    assert.equal((await zero.putSample(id)).status, 201)
    times.push(performance.now() - startedAt)
    const id7 = randomUUID()
    assert.equal((await seven.putSample(id7)).status, 503)
  }
  const p99 = times.toSorted((one, other) => one - other)[98]
  t.diagnostic(`p99 of the other cell's writes: ${p99?.toFixed(1)} ms`)
  const ready = await until('the route says which cell is away', async () => {
    const answer = await fetch(`${baseUrl}/readyz`)
    const body = (await answer.json()) as { cellsAway: number[] }
    return body.cellsAway.length > 0 && { ...body, status: answer.status }
  })
  assert.deepEqual([ready.status, ready.cellsAway], [200, [7]])
  route.process.kill('SIGTERM')
  assert.equal((await route.ended).code, 0)
})
