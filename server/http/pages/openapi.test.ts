// /openapi.json says in words what each group, operation and answer is for.

import assert from 'node:assert/strict'
import test from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { serveHttp } from '../../../test/support/injected-server.ts'

interface Operation {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  responses: Record<string, { description?: string }>
}

interface Published {
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
}

const { pool } = await cloneDatabase()
let published: Published

test.before(async (t) => {
  const { app } = await serveHttp(t as test.TestContext, pool)
  published = (await app.inject('/openapi.json')).json()
})

const operations = () => Object.values(published.paths).flatMap((methods) => Object.values(methods))
/** What @fastify/swagger writes where a route says nothing. */
const isSaid = (text: string | undefined) => (text ?? 'Default Response') !== 'Default Response'

test('every operation has a summary and a description', () => {
  const silent = operations().filter(
    ({ summary, description }) => !isSaid(summary) || !isSaid(description),
  )
  assert.deepEqual(
    silent.map(({ operationId }) => operationId),
    [],
  )
})

test('every answer has a text', () => {
  const silent = operations().flatMap(({ operationId, responses }) =>
    Object.entries(responses)
      .filter(([, { description }]) => !isSaid(description))
      .map(([status]) => `${operationId} ${status}`),
  )
  assert.deepEqual(silent, [])
})

test('every group has a description and a name of its own', () => {
  const names = published.tags.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  // What viewers call the section of callbacks.
  assert.ok(!names.includes('Webhooks'))
  for (const { name, description } of published.tags) assert.ok(isSaid(description), name)
  for (const { operationId, tags } of operations()) {
    assert.equal(tags?.length, 1, operationId)
    assert.ok(names.includes(tags[0] as string), operationId)
  }
})
