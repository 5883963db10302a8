// Every route of the running service against every kind of credential. The routes come from the service
// itself: one that is missing here fails the test.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Role } from '../../server/core/operator.ts'
import type { RouteEntry } from '../../server/http/route-table.ts'
import { createOperatorKey } from '../../server/operations/create-operator-key.ts'
import { revokeOperatorKey } from '../../server/operations/revoke-operator-key.ts'
import { limitOf } from '../support/busy-machine.ts'
import { type Paybell, startPaybell } from '../support/paybell.ts'

const CREDENTIALS = [
  'none',
  'garbage',
  'forged key',
  'client',
  'first',
  'admin',
  'ingest',
  'viewer',
  'auditor',
  'revoked',
] as const
type Credential = (typeof CREDENTIALS)[number]

type Answer = 'let in' | 'missing-token' | 'invalid-token' | 'role-not-allowed'
type Row = Record<Credential, Answer>

/** What needs no credential, in the sandbox. A link to a document is one itself. */
const OPEN =
  /^\/($|auth\/token$|\.well-known\/|livez$|readyz$|metrics$|openapi\.json$|docs($|\/)|problems($|\/)|guides($|\/)|console($|\/)|documents\/:link$)/
const CLIENT = /^(\/api)?\/v1\//
const RECEIVER = '/sandbox/receiver/:name'
const OPERATOR = /^(\/operator\/v1\/|\/sandbox\/(receiver\/:name|clock)$)/

const NO_ROLE: Row = {
  none: 'missing-token',
  garbage: 'invalid-token',
  'forged key': 'invalid-token',
  client: 'invalid-token',
  first: 'invalid-token',
  admin: 'invalid-token',
  ingest: 'invalid-token',
  viewer: 'invalid-token',
  auditor: 'invalid-token',
  revoked: 'invalid-token',
}
const CLIENTS: Row = { ...NO_ROLE, client: 'let in' }
const ADMINS: Row = {
  ...NO_ROLE,
  first: 'let in',
  admin: 'let in',
  ingest: 'role-not-allowed',
  viewer: 'role-not-allowed',
  auditor: 'role-not-allowed',
}

/** The interface's own words: ingest may make two calls, auditor three, viewer every GET, admin everything. */
const INGEST = ['PUT /operator/v1/payments/:id', 'POST /operator/v1/payments/batch']

const AUDITOR = ['/operator/v1/audit', '/operator/v1/audit/head', '/operator/v1/audit/export']

function expectedOf({ method, url }: RouteEntry): Row {
  // What is sent to the sandbox's own receiver comes from anywhere; its script is the operator's.
  if (OPEN.test(url) || (url === RECEIVER && method === 'POST')) {
    return Object.fromEntries(CREDENTIALS.map((one) => [one, 'let in'])) as Row
  }
  if (CLIENT.test(url)) return CLIENTS
  assert.match(url, OPERATOR, 'a new kind of route: say here who may call it')
  if (INGEST.includes(`${method} ${url}`)) return { ...ADMINS, ingest: 'let in' }
  if (method !== 'GET' && method !== 'HEAD') return ADMINS
  const readers: Row = { ...ADMINS, viewer: 'let in' }
  return AUDITOR.includes(url) ? { ...readers, auditor: 'let in' } : readers
}

async function makeCredentials(paybell: Paybell): Promise<Record<Credential, string | null>> {
  const { deps } = paybell.app
  const keyOf = async (name: string, role: Role) => createOperatorKey(deps, { name, role })
  const revoked = await keyOf('revoked', 'admin')
  await revokeOperatorKey(deps, revoked.id)
  return {
    none: null,
    garbage: 'x'.repeat(47),
    'forged key': `pbk_${randomBytes(32).toString('base64url')}`,
    client: await paybell.caller.token(),
    first: paybell.operatorKey,
    admin: (await keyOf('admin', 'admin')).key,
    ingest: (await keyOf('ingest', 'ingest')).key,
    viewer: (await keyOf('viewer', 'viewer')).key,
    auditor: (await keyOf('auditor', 'auditor')).key,
    revoked: revoked.key,
  }
}

/** A call that cannot do anything: ids of nothing, and no body. */
async function call(
  paybell: Paybell,
  { method, url }: RouteEntry,
  token: string | null,
): Promise<Answer> {
  const path = url.replace(/:\w+/g, () => randomUUID()).replace('*', 'nothing')
  const stop = new AbortController()
  const response = await fetch(paybell.baseUrl + path, {
    method,
    redirect: 'manual',
    signal: stop.signal,
    headers: {
      accountid: paybell.accountId,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
  })
  const { status } = response
  const isRefused = status === 401 || status === 403
  const text = isRefused && method !== 'HEAD' ? await response.text() : null
  // A stream would never end by itself.
  stop.abort()
  if (!isRefused) return 'let in'
  if (text !== null) return JSON.parse(text).code
  const challenge = response.headers.get('www-authenticate')
  if (status === 403) return 'role-not-allowed'
  return challenge === 'Bearer' ? 'missing-token' : 'invalid-token'
}

test('every route lets in the credentials that it should, and no others', async (t) => {
  const paybell = await startPaybell(t)
  const credentials = await makeCredentials(paybell)
  const routes = paybell.app.routes()
  assert.ok(routes.length > 40, `${routes.length} routes`)
  for (const route of routes) {
    const expected = expectedOf(route)
    const answers = await Promise.all(
      CREDENTIALS.map(async (one) => [one, await call(paybell, route, credentials[one])] as const),
    )
    assert.deepEqual(Object.fromEntries(answers), expected, `${route.method} ${route.url}`)
  }
  // None of these calls has done anything; that an auditor has read is noted.
  const { rows } = await paybell.pool.query(
    `select distinct actor, action from audit order by action`,
  )
  assert.deepEqual(
    rows.map(({ actor, action }) => `${actor} ${action}`),
    ['auditor audit.export', 'auditor audit.head', 'auditor audit.list'],
  )
})

test('a stream ends with the key, or the session, that it was opened with', async (t) => {
  const paybell = await startPaybell(t)
  const { deps } = paybell.app
  const { id, key } = await createOperatorKey(deps, { name: 'watcher', role: 'viewer' })
  const post = await fetch(`${paybell.baseUrl}/console/session`, {
    method: 'POST',
    headers: { 'x-paybell-console': '1', 'content-type': 'application/json' },
    body: JSON.stringify({ operatorKey: key }),
  })
  const [cookie = ''] = (post.headers.get('set-cookie') ?? '').split(';')
  const ends = [{ authorization: `Bearer ${key}` }, { cookie, 'x-paybell-console': '1' }].map(
    async (headers) => {
      const response = await fetch(`${paybell.baseUrl}/operator/v1/stream`, { headers })
      assert.equal(response.status, 200)
      return {
        end: response.text().then(
          () => 'ended',
          () => 'cut off',
        ),
      }
    },
  )
  const open = await Promise.all(ends)
  await revokeOperatorKey(deps, id)
  const revokedAt = performance.now()
  assert.deepEqual(await Promise.all(open.map(({ end }) => end)), ['cut off', 'cut off'])
  assert.ok(performance.now() - revokedAt < limitOf(5_000))
})
