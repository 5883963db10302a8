import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import {
  assertProblem,
  OPERATOR_KEY,
  onboard,
  serveHttp,
} from '../../../test/support/injected-server.ts'

const { pool } = await cloneDatabase()

test('regression: an act without a dry run refuses one that is asked for in the body', async (t) => {
  const server = await serveHttp(t, pool)
  const { bearer } = await onboard(server)
  const operator = { authorization: `Bearer ${OPERATOR_KEY}` }
  const id = randomUUID()
  const acts = [
    [`/v1/deliveries/${id}/replay`, bearer],
    [`/v1/deliveries/${id}/retry`, bearer],
    [`/v1/webhooks/${id}/retry`, bearer],
    [`/operator/v1/deliveries/${id}/replay`, operator],
    [`/operator/v1/deliveries/${id}/cancel`, operator],
    [`/operator/v1/deliveries/${id}/retry`, operator],
    [`/operator/v1/endpoints/${id}/retry`, operator],
  ] as const
  for (const [url, headers] of acts) {
    const ask = (payload: string) =>
      server.app.inject({
        method: 'POST',
        url,
        headers: { ...headers, 'content-type': 'application/json' },
        payload,
      })
    for (const name of ['dryRun', 'dry_run', 'DRYRUN']) {
      const answer = await ask(JSON.stringify({ [name]: true }))
      const { errors } = assertProblem(answer, 400, 'invalid-fields')
      assert.deepEqual([errors?.[0]?.pointer, errors?.[0]?.code], [`/${name}`, 'not-taken'])
    }
    // These get as far as the look for what is not there.
    for (const body of ['', 'null', '"dryRun"', '[1]', '{"dryRun": false, "reason": "x"}']) {
      assertProblem(await ask(body), 404, 'not-found')
    }
  }
})
