import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { call, OPERATOR } from '../../../test/support/injected-calls.ts'
import { assertProblem, onboard, serveHttp } from '../../../test/support/injected-server.ts'

const { pool } = await cloneDatabase()

test('regression: an act without a dry run refuses one that is asked for in the body', async (t) => {
  const server = await serveHttp(t, pool)
  const { bearer } = await onboard(server)
  const id = randomUUID()
  const acts = [
    [`/v1/deliveries/${id}/replay`, bearer],
    [`/v1/deliveries/${id}/retry`, bearer],
    [`/v1/webhooks/${id}/retry`, bearer],
    [`/operator/v1/deliveries/${id}/replay`, OPERATOR],
    [`/operator/v1/deliveries/${id}/cancel`, OPERATOR],
    [`/operator/v1/deliveries/${id}/retry`, OPERATOR],
    [`/operator/v1/endpoints/${id}/retry`, OPERATOR],
  ] as const
  for (const [url, headers] of acts) {
    const ask = (payload: string) =>
      call(server, { ...headers, 'content-type': 'application/json' }, 'POST', url, payload)
    for (const name of ['dryRun', 'dry_run', 'DRYRUN']) {
      const answer = await ask(JSON.stringify({ [name]: true }))
      const { errors } = assertProblem(answer, 400, 'invalid-fields')
      assert.deepEqual([errors?.[0]?.pointer, errors?.[0]?.code], [`/${name}`, 'not-taken'])
    }
    for (const body of ['"dryRun"', '[1]', '{"dryRun": false, "reason": "x"}']) {
      assertProblem(await ask(body), 400, 'invalid-fields')
    }
    // These get as far as the look for what is not there.
    for (const body of ['', 'null', '{}']) assertProblem(await ask(body), 404, 'not-found')
  }
})
