// A process of bench/http-put.ts: the server of the checkout that it is given, without a database, or a bare one.

import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'
import Fastify from 'fastify'
import { pino } from 'pino'
import type { ServerDeps } from '../../server/http/routes/server-deps.ts'
import type { Submitter } from '../../server/operations/accepting/payment-gatherer.ts'
import type { PaymentChange } from '../../server/operations/accepting/record-payments.ts'
import { answerCalls } from './answer-calls.ts'

export const OPERATOR_KEY = 'kQ3vX9mT7wZ2rB5nY8cL4hJ6sD1fG0pA'
export const ACCOUNT_ID = '5f0c6a1e-7d2b-4c3a-9e8f-0a1b2c3d4e5f'

/** About as long as an answer of the service is. */
const TEXT = `{"id":"${randomUUID()}","text":"${'x'.repeat(380)}"}`

if (process.argv[1] === import.meta.filename) {
  const [kind = ''] = process.argv.slice(2)
  const listen =
    kind === 'bare Fastify' ? listenFastify : kind === 'bare node:http' ? listenNode : listenPaybell
  answerCalls({
    listen: () => listen(kind),
    cpuUs: () => {
      const { user, system } = process.cpuUsage()
      return user + system
    },
  })
}

async function listenPaybell(root: string): Promise<string> {
  const from = (path: string) => import(pathToFileURL(`${root}/server/${path}`).href)
  const { buildServer } = await from('http/server.ts')
  const { Metrics } = await from('telemetry/metrics.ts')
  const { createAccess } = await from('operations/access/access.ts')
  const { AccountDirectory } = await from('operations/access/account-directory.ts')
  const { loadConfig } = await from('config/config.ts')
  const { Sealer } = await from('store/secrets/sealing.ts')
  const masterKey = randomBytes(32)
  const config = loadConfig('sandbox', {
    PAYBELL_OPERATOR_KEY: OPERATOR_KEY,
    PAYBELL_MASTER_KEY: masterKey.toString('base64'),
    DATABASE_URL: 'postgres://nowhere',
  })
  // Of the database only the account is asked for, once.
  const pool = { query: async () => ({ rows: [{ id: ACCOUNT_ID, client_key: 1 }] }) }
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
  const metrics = new Metrics('bench')
  const base = { pool, clock, config, sealer: new Sealer([masterKey]), targets: {} }
  const deps = {
    ...base,
    access: createAccess(base),
    accounts: new AccountDirectory(pool),
    gatherer: { enter },
    logger: pino({ level: 'warn' }),
    baseUrl: () => 'http://127.0.0.1',
    isDraining: () => false,
    onAnswered: metrics.countRequest.bind(metrics),
    tracer: null,
    sandbox: null,
  } as unknown as ServerDeps
  const app = await buildServer(deps)
  return app.listen({ host: '127.0.0.1', port: 0 })
}

let sequence = 0

function enter(_change: PaymentChange, submitter: Submitter): void {
  setImmediate(() =>
    submitter.recorded({
      outcome: 'created',
      text: TEXT,
      event: { id: randomUUID(), kind: 'payment.created', sequence: ++sequence },
    } as Parameters<Submitter['recorded']>[0]),
  )
}

async function listenFastify(): Promise<string> {
  const app = Fastify()
  app.put('/operator/v1/payments/:id', (_request, reply) => {
    setImmediate(() => reply.code(201).type('application/json; charset=utf-8').send(TEXT))
  })
  return app.listen({ host: '127.0.0.1', port: 0 })
}

async function listenNode(): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString())
      setImmediate(() => {
        response.writeHead(201, {
          'content-type': 'application/json; charset=utf-8',
          'content-length': Buffer.byteLength(TEXT),
        })
        response.end(TEXT)
      })
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
