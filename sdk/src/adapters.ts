// The receiver as a handler for node:http, Express and Fastify. Their types are described by shape, so
// that none of them is a dependency. All three need the raw body, before any parser has read it.

import { isRawBytes, toBytes } from './plain/hmac.ts'
import type { Receiver } from './receiving/receiver.ts'

/** The part of node:http's IncomingMessage, and of Express's Request, that is needed. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly readableEnded?: boolean | undefined
  [Symbol.asyncIterator](): AsyncIterator<unknown>
}

export interface NodeResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(body?: string): unknown
}

export type NodeHandler = (
  request: NodeRequest,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => Promise<void>

/**
 * For `createServer` of node:http and node:https.
 *
 * ```js
 * import { createServer } from 'node:http'
 * import { createReceiver } from '@paybell/sdk'
 * import { toNodeHandler } from '@paybell/sdk/adapters'
 *
 * const receiver = createReceiver({
 *   sharedKey: 'a-long-random-text-that-only-we-two-know',
 *   onPayment: ({ id, amount }, { event }) => console.log(event, id, amount.amount),
 * })
 * createServer(toNodeHandler(receiver)).listen(3000)
 * ```
 */
export function toNodeHandler(receiver: Receiver): NodeHandler {
  return async (request, response, next) => {
    let answer: Response
    try {
      answer = await receiver(toRequest(request, rawBodyOf(request)))
    } catch (error) {
      if (next) return next(error)
      // Only a mistake in how the receiver is mounted leads here: its developer should see it.
      console.error('paybell receiver:', error)
      answer = new Response(String(error), { status: 500 })
    }
    response.statusCode = answer.status
    answer.headers.forEach((value, name) => {
      response.setHeader(name, value)
    })
    // Do not wait for the rest of a body that was not read to its end.
    if (answer.status === 413 || answer.status === 405) response.setHeader('connection', 'close')
    response.end(await answer.text())
  }
}

/**
 * For `app.post(path, …)`. Mount it before `express.json()`; it also works after
 * `express.raw({ type: '*\/*' })`, and where NestJS keeps the raw body.
 *
 * ```js
 * import express from 'express'
 * import { createReceiver } from '@paybell/sdk'
 * import { toExpressHandler } from '@paybell/sdk/adapters'
 *
 * const receiver = createReceiver({
 *   sharedKey: 'a-long-random-text-that-only-we-two-know',
 *   onPayment: ({ id, amount }, { event }) => console.log(event, id, amount.amount),
 * })
 * const app = express()
 * app.post('/hook', toExpressHandler(receiver))
 * app.use(express.json())
 * app.listen(3000)
 * ```
 */
export function toExpressHandler(receiver: Receiver): NodeHandler {
  return toNodeHandler(receiver)
}

/**
 * The part of a Fastify instance that is needed. A shape cannot express its overloads, so the types of
 * their arguments are given below.
 */
export interface FastifyLike {
  removeAllContentTypeParsers(): void
  addContentTypeParser(...args: never[]): unknown
  post(...args: never[]): unknown
}

interface FastifyCalls {
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: string,
    parser: (
      request: unknown,
      payload: unknown,
      done: (error: null, body: unknown) => void,
    ) => void,
  ): unknown
  post(
    path: string,
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>,
  ): unknown
}

interface FastifyRequestLike {
  headers: NodeRequest['headers']
  body: unknown
}

interface FastifyReplyLike {
  code(status: number): unknown
  header(name: string, value: string): unknown
  send(body: string): unknown
}

/**
 * For `app.register(…)`: a plugin of its own, so that the parsers of your other routes stay.
 *
 * ```js
 * import fastify from 'fastify'
 * import { createReceiver, signForTest } from '@paybell/sdk'
 * import { toFastifyPlugin } from '@paybell/sdk/adapters'
 *
 * const sharedKey = 'a-long-random-text-that-only-we-two-know'
 * const receiver = createReceiver({ sharedKey, onPayment: ({ id }) => console.log(id) })
 * const app = fastify()
 * app.register(toFastifyPlugin(receiver, '/hook'))
 *
 * const { headers, body } = await signForTest({ sharedKey })
 * const answer = await app.inject({ method: 'POST', url: '/hook', headers, body: Buffer.from(body) })
 * console.log(answer.statusCode) // 200
 * ```
 */
export function toFastifyPlugin(
  receiver: Receiver,
  path: string,
): (app: FastifyLike) => Promise<void> {
  return async (instance) => {
    const app = instance as FastifyCalls
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    app.post(path, async (request, reply) => {
      const { headers, body } = request
      const answer = await receiver(
        toRequest(
          { method: 'POST', headers },
          body ? toStream(body as AsyncIterable<unknown>) : '',
        ),
      )
      reply.code(answer.status)
      answer.headers.forEach((value, name) => {
        reply.header(name, value)
      })
      return reply.send(await answer.text())
    })
  }
}

type RawBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

/** What a parser has left, where there was one, or else the stream. */
function rawBodyOf(request: NodeRequest & { rawBody?: unknown; body?: unknown }): RawBody {
  for (const body of [request.rawBody, request.body]) {
    if (isRawBytes(body)) return toBytes(body)
  }
  if (request.readableEnded) {
    throw new Error(
      'The body was read before the receiver saw it, so its signature cannot be checked. Mount the receiver before express.json() and other parsers.',
    )
  }
  return toStream(request)
}

function toRequest(
  { method, headers }: Pick<NodeRequest, 'method' | 'headers'>,
  body: RawBody,
): Request {
  // HTTP/2 has names such as `:path`, which are no headers.
  const list = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(':') ? [] : [value ?? []].flat().map((each): [string, string] => [name, each]),
  )
  // The receiver reads neither the address nor the name of another method, and Request refuses some.
  const isPost = method === 'POST'
  const init: RequestInit & { duplex: 'half' } = {
    method: isPost ? 'POST' : 'GET',
    headers: list,
    duplex: 'half',
  }
  if (isPost) init.body = body
  return new Request('http://receiver.invalid/', init)
}

/** Asks for a chunk when there is room for one. Cancelling does not end the connection: the answer goes over it. */
function toStream(source: AsyncIterable<unknown>): ReadableStream<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else
        controller.enqueue(
          typeof value === 'string' ? encoder.encode(value) : (value as Uint8Array),
        )
    },
  })
}

const encoder = new TextEncoder()
