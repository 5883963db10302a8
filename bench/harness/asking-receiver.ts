// A receiver that asks who calls, in a process of its own: over TLS it wants a client certificate, if it is told to, it
// closes each connection after its answer, and it gives out tokens.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { answerCalls } from './answer-calls.ts'

export interface Asking {
  cert?: string
  key?: string
  /** Of client certificates; without it none is asked for. */
  clientAuthority?: string
  closes?: boolean
}

const TOKEN = JSON.stringify({
  access_token: 'a'.repeat(40),
  token_type: 'Bearer',
  expires_in: 3_600,
})

answerCalls({
  async listen({ cert, key, clientAuthority, closes }: Asking) {
    const receive = (request: IncomingMessage, response: ServerResponse) => {
      const body = request.url === '/token' ? TOKEN : ''
      const headers = { 'content-length': body.length, ...(closes ? { connection: 'close' } : {}) }
      request.resume().on('end', () => response.writeHead(200, headers).end(body))
    }
    const ca = clientAuthority === undefined ? {} : { ca: clientAuthority, requestCert: true }
    const server =
      cert === undefined || key === undefined
        ? createServer(receive)
        : createTlsServer({ cert, key, ...ca }, receive)
    server.keepAliveTimeout = 60_000
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
})
