// Calls as a client: with an access token, which it fetches with the client's credentials.

import { type Bearer, type Caller, createCaller } from './caller.ts'
import { PaybellError } from './errors.ts'
import { TokenKeeper } from './token.ts'
import { send, type TransportOptions, toJson } from './transport.ts'
import { VERSION } from './version.ts'

export interface Credentials {
  clientId: string
  clientSecret: string
}

export interface ClientOptions extends Credentials {
  /** Such as `https://paybell.example.com`. */
  baseUrl: string
  /** The account that calls are about, unless they name another. */
  accountId?: string | undefined
  /** Instead of the runtime's. */
  fetch?: typeof fetch | undefined
  /** Tries after the first one: 3 by default. */
  retries?: number | undefined
  /** For each try: 30,000 by default. */
  timeoutMs?: number | undefined
  /** Allows credentials to be sent over `http://` to another machine. */
  allowInsecureHttp?: boolean | undefined
  /** For tests: milliseconds since 1970, and a number from 0 to 1. */
  now?: (() => number) | undefined
  random?: (() => number) | undefined
}

export function createClientCaller(options: ClientOptions): Caller {
  const { clientId, clientSecret, accountId } = options
  const baseUrl = readBaseUrl(options)
  for (const [name, value] of Object.entries({ clientId, clientSecret })) {
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} is missing.`)
  }
  const transport = {
    // Called as a function: some runtimes refuse their own fetch as a method of another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    retries: options.retries ?? 3,
    timeoutMs: options.timeoutMs ?? 30_000,
    random: options.random ?? Math.random,
  } satisfies TransportOptions
  const headers = { 'user-agent': `paybell-sdk/${VERSION}` }
  const service = { baseUrl, transport, headers }
  const bearer = createTokenBearer(service, { clientId, clientSecret }, options.now)
  return createCaller({ ...service, bearer, accountId })
}

/** A token that is fetched when it is needed, kept, and fetched again when it is refused. */
export function createTokenBearer(
  service: {
    baseUrl: string
    transport: TransportOptions
    headers: Readonly<Record<string, string>>
  },
  credentials: Credentials,
  now?: () => number,
): Bearer {
  const tokens = new TokenKeeper(async () => {
    // Without the caller's signal: other callers wait for the same token.
    const answer = await send(service.transport, {
      method: 'POST',
      url: `${service.baseUrl}/auth/token`,
      headers: async () => ({
        accept: 'application/json',
        ...service.headers,
        'content-type': 'application/json',
      }),
      body: credentials,
      isSafe: true,
    })
    const { access_token, expires_in } = toJson(answer) as Record<string, unknown>
    if (typeof access_token !== 'string' || typeof expires_in !== 'number') {
      throw new PaybellError('The answer holds no token. Check baseUrl.', {
        code: 'unexpected-answer',
        status: 200,
      })
    }
    return { value: access_token, lifetimeSeconds: expires_in }
  }, now)
  return {
    get: () => tokens.get(),
    refuse(value) {
      tokens.refuse(value)
      return true
    },
  }
}

function readBaseUrl({ baseUrl, allowInsecureHttp }: ClientOptions): string {
  if (!URL.canParse(baseUrl)) {
    throw new TypeError('baseUrl is missing or no URL: such as https://paybell.example.com')
  }
  const url = new URL(baseUrl)
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && (isLocal || allowInsecureHttp))) {
    throw new TypeError(
      'baseUrl must be https://, because the client secret goes there. In a network that you trust, set allowInsecureHttp.',
    )
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}
