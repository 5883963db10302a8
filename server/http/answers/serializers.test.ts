import assert from 'node:assert/strict'
import test from 'node:test'
import Fastify from 'fastify'
import { compileOnFirstUse } from './serializers.ts'

test('a member that the schema does not name is never sent, from the first answer on', async () => {
  const app = Fastify({
    schemaController: { compilersFactory: { buildSerializer: compileOnFirstUse } },
  })
  const response = { 200: { type: 'object', properties: { name: { type: 'string' } } } }
  app.get('/', { schema: { response } }, async () => ({ name: 'a', secret: 'b' }))
  for (const time of ['first', 'second']) {
    assert.equal((await app.inject('/')).body, '{"name":"a"}', time)
  }
})

test('a schema is compiled for the first answer, not before', async () => {
  const app = Fastify({
    schemaController: { compilersFactory: { buildSerializer: compileOnFirstUse } },
  })
  const response = { 200: { type: 'nonsense' }, 201: { type: 'object', properties: {} } }
  app.get('/', { schema: { response } }, async (_request, reply) => reply.code(201).send({}))
  await app.ready()
  assert.equal((await app.inject('/')).body, '{}')
})
