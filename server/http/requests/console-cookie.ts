// The console's session as a credential. A browser attaches the cookie to requests of any page; so it
// counts only with a header that no form, image or link can send, and from our own pages.

import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type ConsoleSession,
  type ConsoleSessions,
  SESSION_SECONDS,
} from '../../operations/access/console-session.ts'
import { headerValues } from '../basics/header-values.ts'

declare module 'fastify' {
  interface FastifyInstance {
    consoleSessions: ConsoleSessions
    /** Whether browsers reach the service by HTTPS, as far as its settings tell. */
    isAtHttps: boolean
  }
}

const COOKIE = 'paybell_session'
/** No other site of the domain can plant a cookie with this prefix, nor can a page that came without TLS. */
const SECURE_PREFIX = '__Host-'
const CONSOLE_HEADER = 'x-paybell-console'

/** 256 bits in base64url. */
const TOKEN = /^[\w-]{43}$/

/** The session of the request; null when it has ended, undefined when no cookie counts. */
export async function readConsoleSession(
  request: FastifyRequest,
): Promise<ConsoleSession | null | undefined> {
  const token = readConsoleToken(request)
  return token === undefined ? undefined : request.server.consoleSessions.verify(token)
}

export function readConsoleToken(request: FastifyRequest): string | undefined {
  if (!isFromConsole(request)) return undefined
  const token = readCookie(request, COOKIE)
  return token !== undefined && TOKEN.test(token) ? token : undefined
}

export function readCookie(request: FastifyRequest, plainName: string): string | undefined {
  const name = nameOf(request, plainName)
  const values = headerValues(request, 'cookie')
    .flatMap((header) => header.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  // Without TLS, another site of the same domain may have planted one of two: both are refused.
  return values.length === 1 ? values[0] : undefined
}

/**
 * Whether a page of ours has sent this. A foreign page cannot send the header without a preflight, which
 * is never granted; the origin that the browser itself sends must agree.
 */
export function isFromConsole(request: FastifyRequest): boolean {
  const [given, ...others] = headerValues(request, CONSOLE_HEADER)
  if (given !== '1' || others.length > 0) return false
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin } = request.headers
  return origin === undefined || isOwnOrigin(request, origin)
}

/** Whether a form on a page of ours has sent this: the browser itself says so, and what says nothing is no browser. */
export function isFromOwnPage(request: FastifyRequest): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (site !== undefined) return site === 'same-origin'
  return origin !== undefined && isOwnOrigin(request, origin)
}

/** Compares the host alone: behind a proxy that ends TLS, we do not see the scheme. */
function isOwnOrigin(request: FastifyRequest, origin: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === request.host.toLowerCase()
}

function nameOf(request: FastifyRequest, plainName: string): string {
  return isSecure(request) ? SECURE_PREFIX + plainName : plainName
}

function isSecure(request: FastifyRequest): boolean {
  return request.protocol === 'https' || request.server.isAtHttps
}

export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  /** Null removes the cookie. */
  token: string | null,
  seconds = SESSION_SECONDS,
): void {
  setCookie(request, reply, { name: COOKIE, value: token, seconds, sameSite: 'Strict' })
}

/** Added to those that the answer has. */
export function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  cookie: {
    name: string
    /** Null removes the cookie. */
    value: string | null
    seconds: number
    sameSite: 'Strict' | 'Lax'
  },
): void {
  const { value, seconds, sameSite } = cookie
  const parts = [
    `${nameOf(request, cookie.name)}=${value ?? ''}`,
    'Path=/',
    `Max-Age=${value === null ? 0 : seconds}`,
    'HttpOnly',
    `SameSite=${sameSite}`,
    ...(isSecure(request) ? ['Secure'] : []),
  ]
  reply.header('set-cookie', parts.join('; '))
}
