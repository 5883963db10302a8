// The headers that pass through. Those of one connection stay there (RFC 9110 §7.6.1); where a request came from is
// said by us, unless a proxy that is trusted has said it. Repeated headers stay repeated: the cell refuses them.

import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { CELL_HEADER } from '../core/network/cell.ts'
import { cookieFor, setCookieFrom } from './console-cookies.ts'

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
])
const ORIGIN = new Set([
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'forwarded',
])

/** Whether an address is that of a proxy whose word counts. */
export function trustedBy(cidrs: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [network = '', bits] = cidr.split('/')
    const family = isIPv6(network) ? 'ipv6' : 'ipv4'
    list.addSubnet(network, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

export function requestHeaders(
  request: IncomingMessage,
  cell: number,
  isTrusted: (address: string) => boolean,
): string[] {
  const peer = plainAddress(request.socket.remoteAddress ?? '')
  const isFromProxy = isTrusted(peer)
  const named = (request.headers.connection ?? '').toLowerCase().split(/\s*,\s*/)
  const headers: string[] = []
  const { rawHeaders } = request
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase()
    const value = rawHeaders[at + 1] as string
    if (HOP_BY_HOP.has(name) || named.includes(name) || name === CELL_HEADER) continue
    if (name === 'x-forwarded-for' || (ORIGIN.has(name) && !isFromProxy)) continue
    headers.push(name, name === 'cookie' ? cookieFor(cell, value) : value)
  }
  const before = isFromProxy ? request.headers['x-forwarded-for'] : undefined
  headers.push('x-forwarded-for', before === undefined ? peer : `${before}, ${peer}`)
  if (!isFromProxy) headers.push('x-forwarded-proto', 'http')
  return headers
}

/**
 * Where a request comes from, as the service itself has it: the first address, from ours on, that is no trusted proxy.
 * Of IPv6 the network: a host there has as many addresses as it likes.
 */
export function callerNetwork(
  request: IncomingMessage,
  isTrusted: (address: string) => boolean,
): string {
  const peer = plainAddress(request.socket.remoteAddress ?? '')
  const named = String(request.headers['x-forwarded-for'] ?? '').split(/\s*,\s*/)
  const hops = [peer, ...named.filter((hop) => isIP(hop) !== 0).reverse()]
  const address = hops.find((hop) => !isTrusted(hop)) ?? (hops.at(-1) as string)
  return isIPv6(address) ? toNetwork(address) : address
}

/** The first 64 bits. */
function toNetwork(address: string): string {
  const [before = '', after] = address.split('::')
  const groups = before.split(':')
  if (after === undefined) return groups.slice(0, 4).join(':')
  const behind = after === '' ? 0 : after.split(':').length
  const zeros = Array.from({ length: 8 - groups.length - behind }, () => '0')
  return [...groups, ...zeros].slice(0, 4).join(':')
}

/** An IPv4 address that came through an IPv6 socket. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

export function answerHeaders(
  headers: AnswerHeaders,
  cell: number,
): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || HOP_BY_HOP.has(name)) continue
    passed[name] =
      name === 'set-cookie' ? [value].flat().map((one) => setCookieFrom(cell, one)) : value
  }
  return passed
}
