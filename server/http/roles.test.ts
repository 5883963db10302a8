// Every route of the server against every kind of credential. The routes come from the server itself: one that is
// missing here fails the test.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { cloneDatabase } from '../../test/support/database.ts'
import {
  OPERATOR_KEY,
  onboard,
  serveHttp,
  type TestClient,
  type TestServer,
} from '../../test/support/injected-server.ts'
import type { Role } from '../core/plain/operator.ts'
import { createOperatorKey } from '../operations/access/create-operator-key.ts'
import { revokeOperatorKey } from '../operations/access/revoke-operator-key.ts'
import type { RouteEntry } from './route-table.ts'

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

async function makeCredentials(
  { deps }: TestServer,
  client: TestClient,
): Promise<Record<Credential, string | null>> {
  const keyOf = async (name: string, role: Role) => createOperatorKey(deps, { name, role })
  const revoked = await keyOf('revoked', 'admin')
  await revokeOperatorKey(deps, revoked.id)
  return {
    none: null,
    garbage: 'x'.repeat(47),
    'forged key': `pbk_${randomBytes(32).toString('base64url')}`,
    client: client.token,
    first: OPERATOR_KEY,
    admin: (await keyOf('admin', 'admin')).key,
    ingest: (await keyOf('ingest', 'ingest')).key,
    viewer: (await keyOf('viewer', 'viewer')).key,
    auditor: (await keyOf('auditor', 'auditor')).key,
    revoked: revoked.key,
  }
}

/** A call that cannot do anything: ids of nothing, and no body. */
async function call(
  { app }: TestServer,
  accountId: string,
  { method, url }: RouteEntry,
  token: string | null,
): Promise<Answer> {
  const path = url.replace(/:\w+/g, () => randomUUID()).replace('*', 'nothing')
  const response = await app.inject({
    method: method as 'GET',
    url: path,
    headers: {
      accountid: accountId,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    // The live stream would never end by itself.
    payloadAsStream: true,
  })
  const { statusCode: status } = response
  const isRefused = status === 401 || status === 403
  if (!isRefused) {
    response.stream().destroy()
    return 'let in'
  }
  if (method !== 'HEAD') {
    return ((await json(response.stream())) as { code: Answer }).code
  }
  if (status === 403) return 'role-not-allowed'
  return response.headers['www-authenticate'] === 'Bearer' ? 'missing-token' : 'invalid-token'
}

test('every route lets in the credentials that it should, and no others', async (t) => {
  const { pool } = await cloneDatabase()
  const server = await serveHttp(t, pool, { hasSandboxRoutes: true })
  const client = await onboard(server)
  const credentials = await makeCredentials(server, client)
  // By then the server has heard of these keys.
  server.clock.advance(10)
  const routes = server.app.routeTable
  assert.ok(routes.length > 40, `${routes.length} routes`)
  for (const route of routes) {
    const expected = expectedOf(route)
    const answers: [Credential, Answer][] = []
    for (const one of CREDENTIALS) {
      answers.push([one, await call(server, client.accountId, route, credentials[one])])
    }
    assert.deepEqual(Object.fromEntries(answers), expected, `${route.method} ${route.url}`)
  }
  // None of these calls has done anything; that an auditor has read is noted.
  const { rows } = await pool.query(`select distinct actor, action from audit order by action`)
  assert.deepEqual(
    rows.map(({ actor, action }) => `${actor} ${action}`),
    ['auditor audit.export', 'auditor audit.head', 'auditor audit.list'],
  )
})
