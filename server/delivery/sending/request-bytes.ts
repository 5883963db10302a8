// The bytes of a request. Nothing of it is written before every header has been looked at: a line end in a value would
// begin a header, or a request, that is not ours (request smuggling), and how a request is framed is ours to say.

import { isToken, isValue } from './header-grammar.ts'

/** A request that can be written: its head, and its body in parts. */
export interface RequestBytes {
  head: string
  body: readonly Uint8Array[]
  bodyBytes: number
}

const OURS =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|keep-alive|upgrade|expect)$/i

/** The lines that all requests to a URL begin with. */
export function toBeginning(pathAndQuery: string, host: string): string {
  return `POST ${pathAndQuery} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`
}

/** Null when a header cannot be sent. Headers are names and values in turn. */
export function toRequestBytes(
  beginning: string,
  headers: readonly unknown[],
  body: readonly Uint8Array[],
): RequestBytes | null {
  if (headers.length % 2 !== 0) return null
  let head = beginning
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]
    const value = headers[at + 1]
    if (typeof name !== 'string' || !isToken(name) || OURS.test(name)) return null
    if (typeof value !== 'string' || !isValue(value)) return null
    head += `${name}: ${value}\r\n`
  }
  let bodyBytes = 0
  for (const part of body) bodyBytes += part.byteLength
  return { head: `${head}content-length: ${bodyBytes}\r\n\r\n`, body, bodyBytes }
}

/** Head and body in one piece. */
export function joined({ head, body, bodyBytes }: RequestBytes): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes)
  let at = bytes.write(head, 'latin1')
  for (const part of body) {
    bytes.set(part, at)
    at += part.byteLength
  }
  return bytes
}
