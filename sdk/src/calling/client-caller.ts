// Calls as a client: with an access token, which it fetches with the client's credentials.

import { PaybellError } from '../plain/errors.ts'
import { type Bearer, type Caller, createCaller } from './caller.ts'
import { readService, type Service, type ServiceOptions } from './service-options.ts'
import { TokenKeeper } from './token.ts'
import { send, toJson } from './transport.ts'

export interface Credentials {
  clientId: string
  clientSecret: string
}

export interface ClientOptions extends Credentials, ServiceOptions {
  /** The account that calls are about, unless they name another. */
  accountId?: string | undefined
  /** For tests: milliseconds since 1970. */
  now?: (() => number) | undefined
}

export function createClientCaller(options: ClientOptions): Caller {
  const { clientId, clientSecret, accountId } = options
  const service = readService(options)
  for (const [name, value] of Object.entries({ clientId, clientSecret })) {
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} is missing.`)
  }
  const bearer = createTokenBearer(service, { clientId, clientSecret }, options.now)
  return createCaller({ ...service, bearer, accountId })
}

/** A token that is fetched when it is needed, kept, and fetched again when it is refused. */
export function createTokenBearer(
  service: Service,
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
