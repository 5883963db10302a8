// A file that is sent from memory: its bytes are made once, as they are and compressed, with a tag to ask again by.

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface KeptFile {
  bytes: Buffer
  gzipped: Buffer
  etag: string
}

const compress = promisify(gzip)

export async function keepFile(content: Uint8Array | string): Promise<KeptFile> {
  const bytes = Buffer.from(content as string)
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 27)
  return { bytes, gzipped: await compress(bytes, { level: 9 }), etag: `"${digest}"` }
}

export function sendKept(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, gzipped, etag }: KeptFile,
  headers: Readonly<Record<string, string>>,
) {
  reply.headers({ ...headers, etag, vary: 'accept-encoding' })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  const isGzipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  if (isGzipped) reply.header('content-encoding', 'gzip')
  return reply.send(isGzipped ? gzipped : bytes)
}
