// The console's session as a credential. A browser attaches the cookie to requests of any page; so it
// counts only with a header that no form, image or link can send, and from our own pages. A console that stands in a page
// of another origin has a session of its own, which is a client's: an operator's never counts in a frame.

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
    /** Whether pages of other origins may show the console. */
    isEmbeddable: boolean
  }
}

const COOKIE = 'paybell_session'
const EMBEDDED_COOKIE = 'paybell_embedded'
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
  if (token === undefined) return undefined
  const session = await request.server.consoleSessions.verify(token)
  // Whichever cookie it came in.
  const isOutOfPlace = session?.kind === 'operator' && consolePlace(request) === 'embedded'
  return isOutOfPlace ? null : session
}

export function readConsoleToken(request: FastifyRequest): string | undefined {
  const place = consolePlace(request)
  if (place === null) return undefined
  const token = readCookie(request, place === 'embedded' ? EMBEDDED_COOKIE : COOKIE)
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
  return consolePlace(request) !== null
}

/** Where the page of ours stands that has sent this; null: none has. */
export function consolePlace(request: FastifyRequest): 'own-window' | 'embedded' | null {
  const [given, ...others] = headerValues(request, CONSOLE_HEADER)
  const isEmbedded = given === 'embedded' && request.server.isEmbeddable
  if (!(given === '1' || isEmbedded) || others.length > 0) return null
  const { origin, 'sec-fetch-site': site } = request.headers
  const isOurs =
    site === undefined
      ? origin === undefined || isOwnOrigin(request, origin)
      : site === 'same-origin'
  return isOurs ? (isEmbedded ? 'embedded' : 'own-window') : null
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
  const own =
    consolePlace(request) === 'embedded'
      ? ({ name: EMBEDDED_COOKIE, sameSite: 'None' } as const)
      : ({ name: COOKIE, sameSite: 'Strict' } as const)
  setCookie(request, reply, { ...own, value: token, seconds })
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
    /** None: for a frame, in a jar of the site whose page it stands in. */
    sameSite: 'Strict' | 'Lax' | 'None'
  },
): void {
  const { value, seconds, sameSite } = cookie
  const parts = [
    `${nameOf(request, cookie.name)}=${value ?? ''}`,
    'Path=/',
    `Max-Age=${value === null ? 0 : seconds}`,
    'HttpOnly',
    `SameSite=${sameSite}`,
    // Browsers take Partitioned only with Secure, which a machine's own address has for them even without TLS.
    ...(isSecure(request) || sameSite === 'None' ? ['Secure'] : []),
    ...(sameSite === 'None' ? ['Partitioned'] : []),
  ]
  reply.header('set-cookie', parts.join('; '))
}
