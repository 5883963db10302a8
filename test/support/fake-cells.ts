// Cells that answer as a test says, and the route before them: for what the route does by itself. They give no entry of
// the directory, so the ids alone say where a request goes, unless a test has them sign one.

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CompactSign, exportJWK, generateKeyPair } from 'jose'
import { ENTRY_TYPE } from '../../server/core/network/cell-directory.ts'
import type { Owner } from './owner.ts'

export interface FakeRequest {
  method: string
  /** With the query. */
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** `cut off`: the request is taken, and the connection closed without an answer. */
export type FakeAnswer =
  | { status: number; headers?: Readonly<Record<string, string>>; body?: unknown }
  | 'cut off'

export interface FakeCell {
  baseUrl: string
  /** Without the route's own questions for its entry. */
  received: FakeRequest[]
}

export async function startFakeCell(
  t: Owner,
  answer: (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>,
  /** What its entry says at this moment. */
  entryOf?: () => object,
): Promise<FakeCell> {
  const received: FakeRequest[] = []
  const signed = entryOf === undefined ? null : await createSigner(entryOf)
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const own = await signed?.(path)
    if (own !== undefined) return void response.end(JSON.stringify(own))
    if (path === '/operator/v1/cells') return void response.writeHead(404).end()
    const asked = { method, path, headers, body: Buffer.concat(chunks).toString() }
    received.push(asked)
    const given = await answer(asked)
    if (given === 'cut off') return void response.destroy()
    const type = { 'content-type': 'application/json' }
    response.writeHead(given.status, { ...type, ...given.headers })
    response.end(given.body === undefined ? '' : JSON.stringify(given.body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { baseUrl: `http://127.0.0.1:${port}`, received }
}

/** Answers the route's own two questions, under a key of the cell. */
async function createSigner(entryOf: () => object) {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519' })
  const jwk = { ...(await exportJWK(publicKey)), kid: 'own', alg: 'EdDSA', use: 'sig' }
  return async (path: string): Promise<object | undefined> => {
    if (path === '/.well-known/webhook-keys.json') return { keys: [jwk] }
    if (path !== '/operator/v1/cells') return undefined
    const bytes = Buffer.from(JSON.stringify(entryOf()))
    const entry = await new CompactSign(bytes)
      .setProtectedHeader({ alg: 'EdDSA', typ: ENTRY_TYPE, kid: 'own' })
      .sign(privateKey)
    return { items: [{ entry }] }
  }
}

/** The header of a token that names a client, and that no one has signed. */
export function forgedToken(clientId: string): string {
  const payload = Buffer.from(JSON.stringify({ sub: clientId })).toString('base64url')
  return `Bearer e30.${payload}.e30`
}
