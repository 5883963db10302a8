// `paybell doctor` on a sandbox, whose database is its own: what it knows of endpoints, the service tells.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Check } from '../../basics/doctor-check.ts'
import { runChecks } from './doctor-checks.ts'

interface Stored {
  id: string
  endpointUrl: string
  status: string
  health: { failingSince: string | null; lastError: string | null; pending: number }
}

let stored: readonly Stored[] = []
/** Who has asked for endpoints. */
const bearers: unknown[] = []
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
  response.setHeader('content-type', 'application/json')
  if (pathname === '/readyz') return response.end('{}')
  bearers.push(request.headers.authorization)
  const status = searchParams.get('status')
  const content = stored.filter(
    (endpoint) =>
      (status === null || endpoint.status === status) &&
      (searchParams.get('failing') !== 'true' || endpoint.health.failingSince !== null),
  )
  const size = Number(searchParams.get('size'))
  const page = { content: content.slice(0, size), totalElements: content.length }
  return response.end(JSON.stringify({ ...page, totalPages: 1, size, number: 0 }))
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const dataDir = mkdtempSync(join(tmpdir(), 'paybell-doctor-'))
writeFileSync(join(dataDir, 'sandbox.json'), JSON.stringify({ baseUrl, operatorKey: 'k' }))
after(() => {
  server.close()
  rmSync(dataDir, { recursive: true })
})

async function findings(
  changes: { dataDir?: string; serviceUrl?: string } = {},
): Promise<readonly Check[]> {
  const checks: Check[] = []
  const input = { env: {}, dataDir, serviceUrl: null, egress: [], ...changes }
  for await (const check of runChecks(input)) {
    if (check.name === 'endpoints' || check.name === 'egress') checks.push(check)
  }
  return checks
}

const WELL = { failingSince: null, lastError: null, pending: 0 }
const ILL = { failingSince: '2026-11-15T12:22:21.000Z', lastError: 'answered 500', pending: 20 }

test('regression: failing endpoints are named, and egress tries those that there are', async () => {
  stored = [
    { id: 'a', endpointUrl: `${baseUrl}/well`, status: 'ACTIVE', health: WELL },
    { id: 'b', endpointUrl: 'http://127.0.0.1:1/ill', status: 'ACTIVE', health: ILL },
    { id: 'c', endpointUrl: 'listener:laptop', status: 'DISABLED', health: ILL },
  ]
  const texts = (await findings()).map(({ name, status, detail }) => `${name} ${status} ${detail}`)
  assert.deepEqual(texts, [
    `egress ok ${baseUrl} can be reached`,
    'egress warning http://127.0.0.1:1 cannot be reached: could not connect',
    'endpoints warning 2 of 3 endpoints failing or disabled',
    'endpoints warning http://127.0.0.1:1/ill has been failing since 2026-11-15 12:22:21Z, last: answered 500; 20 waiting',
    'endpoints warning listener:laptop is disabled, failing since 2026-11-15 12:22:21Z, last: answered 500; 20 waiting',
  ])
})

test('"no endpoint to try" is said only when there is none', async () => {
  stored = []
  const texts = (await findings()).map(({ name, status, detail }) => `${name} ${status} ${detail}`)
  assert.deepEqual(texts, [
    'egress skipped there is no endpoint to try; name one with --egress URL',
    'endpoints ok none is registered yet',
  ])
})

test('regression: the key of the sandbox is not sent to another service', async () => {
  bearers.length = 0
  await findings()
  assert.ok(bearers.includes('Bearer k'))
  bearers.length = 0
  const elsewhere = join(dataDir, 'elsewhere')
  mkdirSync(elsewhere)
  const sandbox = { baseUrl: 'http://127.0.0.1:1', operatorKey: 'k' }
  writeFileSync(join(elsewhere, 'sandbox.json'), JSON.stringify(sandbox))
  const checks = await findings({ dataDir: elsewhere, serviceUrl: baseUrl })
  const found = checks.find(({ name }) => name === 'endpoints')
  assert.match(found?.detail ?? '', /set PAYBELL_URL and PAYBELL_OPERATOR_KEY/)
  assert.deepEqual(bearers, [])
})
