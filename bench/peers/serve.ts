// A peer's process: the same routes as Paybell's, over Fastify, in front of the peer's queue. A 2xx is
// answered when the queue has said that the job is kept.

import { randomBytes } from 'node:crypto'
import Fastify from 'fastify'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import { answerCalls } from '../harness/answer-calls.ts'
import { startBullmq } from './bullmq.ts'
import { startGraphileWorker } from './graphile-worker.ts'
import { startNaive } from './naive.ts'
import type { Job, Peer, PeerContext, StartPeer } from './peer.ts'
import { startPgBoss } from './pg-boss.ts'
import { createDeliver } from './sender.ts'

const PEERS: Readonly<Record<string, StartPeer>> = {
  'graphile-worker': (context) => startGraphileWorker(context, { isTuned: false }),
  'graphile-worker-tuned': (context) => startGraphileWorker(context, { isTuned: true }),
  'pg-boss': (context) => startPgBoss(context, { isBatching: false }),
  'pg-boss-batch': (context) => startPgBoss(context, { isBatching: true }),
  bullmq: startBullmq,
  naive: startNaive,
}

export interface ServeOptions extends Omit<PeerContext, 'deliver'> {
  peer: string
  operatorKey: string
  /** The endpoint of each account: peers look it up in memory, which costs them nothing. */
  urls: Readonly<Record<string, string>>
}

let peer: Peer | undefined

async function serve(options: ServeOptions): Promise<string> {
  const start = PEERS[options.peer]
  if (start === undefined) throw new Error(`no peer is called ${options.peer}`)
  const running = await start({ ...options, deliver: createDeliver() })
  peer = running
  const ids = new UuidMaker(() => Date.now(), randomBytes)
  const bearer = `Bearer ${options.operatorKey}`
  const toJob = (text: string, accountId: string): Job => ({
    paymentId: (JSON.parse(text) as { id: string }).id,
    eventId: ids.next(),
    url: options.urls[accountId] as string,
    text,
  })

  const app = Fastify({ bodyLimit: 64 * 1024 * 1024, keepAliveTimeout: 60_000 })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.addHook('onRequest', async (request, reply) => {
    if (request.headers.authorization !== bearer)
      return reply.code(401).send({ code: 'invalid-token' })
  })
  app.put('/operator/v1/payments/:id', async (request, reply) => {
    const job = toJob(request.body as string, request.headers.accountid as string)
    await running.add(job)
    return reply.code(201).send({ event: { id: job.eventId } })
  })
  app.post('/operator/v1/payments/batch', async (request, reply) => {
    const jobs = (request.body as string)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => toJob(line, (JSON.parse(line) as { accountId: string }).accountId))
    await running.addMany(jobs)
    reply.type('application/x-ndjson')
    return jobs.map((job, index) => `{"line":${index + 1},"event":"${job.eventId}"}\n`).join('')
  })
  return app.listen({ host: '127.0.0.1', port: 0 })
}

answerCalls({
  serve,
  isSettled: () => peer?.isSettled(),
  stop: () => peer?.stop(),
})
