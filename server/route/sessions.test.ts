// The console's session as the route shows it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFakeCell } from '../../test/support/fake-cells.ts'
import { routeConfig, startRoute } from '../../test/support/routes.ts'

const ABOUT = { mode: 'production', version: '1.2.3', timeScale: 1 }
const OPERATOR = { kind: 'operator', actor: 'ops', role: 'admin', ...ABOUT }

test('regression: sign-in with the company is not offered, because it would open a session in one cell alone', async (t) => {
  const signInWith = 'login.example.com'
  let session: object = {}
  const cell = await startFakeCell(t, () => ({ status: 200, body: session }))
  const route = await startRoute(t, routeConfig({ 0: cell.baseUrl }, 'key'))
  for (const shown of [{ kind: null, ...ABOUT }, OPERATOR]) {
    for (session of [shown, { ...shown, signInWith }]) {
      const answer = await fetch(`${route.baseUrl}/console/session`)
      assert.deepEqual(await answer.json(), shown)
    }
  }
})
