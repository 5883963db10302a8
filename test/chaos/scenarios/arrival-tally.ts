// A receiver for very many callbacks: it counts what arrived at each of its endpoints, and keeps no bodies.

import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Owner } from '../../support/owner.ts'
import { readCertificate } from '../../support/raw-receiver.ts'

export interface Tally {
  url(endpoint: number): string
  has(endpoint: number, paymentId: string, sequence: number): boolean
  /** Different updates at different endpoints. */
  readonly arrived: number
  /** Updates that came after a newer one of their payment. */
  readonly inverted: number
  readonly repeated: number
}

export async function startTally(owner: Owner): Promise<Tally> {
  const seen = new Set<string>()
  const newest = new Map<string, number>()
  const counts = { inverted: 0, repeated: 0 }
  const note = (path: string, body: string, sequence: number) => {
    const strand = `${path}/${(JSON.parse(body) as { id: string }).id}`
    const key = `${strand}/${sequence}`
    if (sequence < (newest.get(strand) ?? 0)) counts.inverted++
    else newest.set(strand, sequence)
    if (seen.has(key)) counts.repeated++
    seen.add(key)
  }
  const receive = (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text) => (body += text))
    request.on('error', () => {})
    request.on('end', () => {
      note(request.url ?? '', body, Number(request.headers['x-paybell-sequence']))
      response.writeHead(200).end()
    })
  }
  const tls = { key: readCertificate('server.key'), cert: readCertificate('good.pem') }
  const server = createServer(tls, receive).listen(0, '127.0.0.1')
  await once(server, 'listening')
  owner.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: (endpoint) => `https://127.0.0.1:${port}/e/${endpoint}`,
    has: (endpoint, paymentId, sequence) => seen.has(`/e/${endpoint}/${paymentId}/${sequence}`),
    get arrived() {
      return seen.size
    },
    get inverted() {
      return counts.inverted
    },
    get repeated() {
      return counts.repeated
    },
  }
}
