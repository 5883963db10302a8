// What a token endpoint's answer comes to: a token that a header can carry, and for how long it may be kept; or why there
// is none, in words of our own. Nothing of the answer is repeated: it may say the secret back.

export interface BearerToken {
  token: string
  /** From the moment in which it was asked for. 0: only for those who wait for it. */
  keptMs: number
}

/** The token endpoint answered, and gave none that can be used; or it did not answer, or failed itself. */
export type TokenlessReason = 'token-refused' | 'token-unreachable'

export interface NoToken {
  reason: TokenlessReason
  /** A sentence, for the record of the attempt. */
  detail: string
}

export type TokenAnswer = BearerToken | NoToken

/** Of the whole answer. */
export const TOKEN_ANSWER_BYTES_MAX = 16 * 1024
/** Common servers take headers of 8 KiB. */
const TOKEN_CHARACTERS_MAX = 8 * 1024
const TOKEN = /^[\x21-\x7e]+$/
/** Of a token that does not say how long it lives. */
const LIFE_SECONDS = 300
/** Before its end it is not used any more: clocks differ, and callbacks take their time. */
const MARGIN_SECONDS = 60
const KEPT_SECONDS_MAX = 3_600

/** The codes of RFC 6749 §5.2 and of its extensions: others might be anything. */
const ERRORS: ReadonlySet<unknown> = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
  'access_denied',
  'server_error',
  'temporarily_unavailable',
])

/** `excerpt`: all of the body that was read. */
export function readTokenAnswer(status: number, excerpt: Uint8Array | undefined): TokenAnswer {
  const body = readObject(excerpt)
  if (status === 200) return readToken(body)
  const code = ERRORS.has(body?.error) ? ` ${body?.error}` : ''
  const redirect = status >= 300 && status < 400 ? ' Redirects are not followed.' : ''
  return {
    reason: status >= 500 ? 'token-unreachable' : 'token-refused',
    detail: `The token endpoint answered ${status}${code}.${redirect}`,
  }
}

/** There was no answer. Clients read this: the code is the one that they may see. */
export function tokenUnreachable(code: string): NoToken {
  return {
    reason: 'token-unreachable',
    detail: `The token endpoint did not answer: ${code}.`,
  }
}

function readToken(body: Record<string, unknown> | null): TokenAnswer {
  if (body === null) return unusable('not with a JSON object of at most 16 KiB')
  const { access_token: token, token_type: type, expires_in: life } = body
  if (typeof token !== 'string' || token === '') return unusable('without an access_token')
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') {
    return unusable('with a token_type other than Bearer')
  }
  if (token.length > TOKEN_CHARACTERS_MAX) return unusable('with a token of more than 8 KiB')
  if (!TOKEN.test(token)) return unusable('with a token that no header can carry')
  return { token, keptMs: keptMsOf(life) }
}

function unusable(how: string): NoToken {
  return { reason: 'token-refused', detail: `The token endpoint answered 200, but ${how}.` }
}

/** Some servers write the number as text. */
function keptMsOf(life: unknown): number {
  const isNumber = typeof life === 'number' || (typeof life === 'string' && /^\d{1,15}$/.test(life))
  const seconds = isNumber ? Number(life) : LIFE_SECONDS
  return Math.max(0, Math.min(seconds - MARGIN_SECONDS, KEPT_SECONDS_MAX)) * 1_000
}

function readObject(bytes: Uint8Array | undefined): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
