// One callback to a receiver on the caller's own machine or network: the exact bytes, all headers, a
// fresh connection, no redirect. What goes wrong is a value, in the words of the service.

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { ListenerOutcome } from '../../sdk/src/wire/types.ts'

/** Why there was no answer, in the words that the service takes. */
export type ForwardFailure = NonNullable<ListenerOutcome['error']>

export type Forwarded =
  | {
      status: number
      error: null
      durationMs: number
      /** How the answer begins, at most 4 KiB. */
      body: Buffer
      retryAfter: string | null
    }
  | { status: null; error: ForwardFailure; durationMs: number }

export interface ForwardOptions {
  timeoutMs: number
  /** Takes any certificate: developers make their own. */
  skipVerify: boolean
  /** Between the parts of a body. */
  pauseMs?: number
  /** Instead of the system's. */
  lookup?: LookupFunction
}

/** The service's own limits for an answer: bytes read, time to read them, bytes kept. */
const BODY_BYTES_MAX = 16 * 1024
const BODY_MS_MAX = 2_000
const KEPT_BYTES_MAX = 4 * 1024

export function forward(
  url: URL,
  headers: readonly (readonly [string, string])[],
  parts: readonly Uint8Array[],
  { timeoutMs, skipVerify, pauseMs = 0, lookup }: ForwardOptions,
): Promise<Forwarded> {
  const startedAtMs = performance.now()
  const elapsedMs = () => Math.round(performance.now() - startedAtMs)
  return new Promise((resolve) => {
    const fail = (error: ForwardFailure) =>
      resolve({ status: null, error, durationMs: elapsedMs() })
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const request = send(url, {
      method: 'POST',
      // The receiver may have closed a kept connection when it was restarted.
      agent: false,
      ...(skipVerify ? { rejectUnauthorized: false } : {}),
      ...(lookup ? { lookup } : {}),
    })
    const timer = setTimeout(() => {
      fail('timeout')
      request.destroy()
    }, timeoutMs)
    for (const [name, value] of headers) request.setHeader(name, value)
    const bytes = parts.reduce((sum, part) => sum + part.length, 0)
    request.setHeader('content-length', bytes)
    request.on('error', (error) => {
      clearTimeout(timer)
      fail(reasonOf(error))
    })
    request.on('response', (response) => {
      clearTimeout(timer)
      const durationMs = elapsedMs()
      const retryAfter = response.headers['retry-after'] ?? null
      void readBody(response, Math.min(BODY_MS_MAX, Math.max(0, timeoutMs - durationMs))).then(
        (kept) => {
          request.destroy()
          const status = response.statusCode ?? 0
          resolve({ status, error: null, durationMs, body: kept, retryAfter })
        },
      )
    })
    void write(request, parts, pauseMs)
  })
}

/** Stops when an answer, or a failure, has come before the end. */
async function write(
  request: ClientRequest,
  parts: readonly Uint8Array[],
  pauseMs: number,
): Promise<void> {
  for (const [at, part] of parts.entries()) {
    if (at > 0 && pauseMs > 0) await delay(pauseMs)
    if (request.destroyed) return
    request.write(part)
  }
  request.end()
}

/** Never rejects: the status has decided, also when the body cannot be read. */
function readBody(response: IncomingMessage, ms: number): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const end = () => {
      clearTimeout(timer)
      resolve(Buffer.concat(chunks).subarray(0, KEPT_BYTES_MAX))
    }
    const timer = setTimeout(end, ms)
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes - chunk.length < KEPT_BYTES_MAX) chunks.push(chunk)
      if (bytes >= BODY_BYTES_MAX) end()
    })
    response.on('end', end)
    response.on('error', end)
    response.on('close', end)
  })
}

function reasonOf(error: Error): ForwardFailure {
  const code = String((error as NodeJS.ErrnoException).code ?? '')
  if (/^(ENOTFOUND|EAI_)/.test(code)) return 'dns-error'
  if (/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EACCES|ENOENT)/.test(code)) {
    return 'connect-error'
  }
  if (code === 'ETIMEDOUT') return 'timeout'
  if (code.startsWith('HPE_')) return 'protocol-error'
  if (
    code === 'EPROTO' ||
    /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(code)
  ) {
    return 'tls-error'
  }
  return 'connection-reset'
}
