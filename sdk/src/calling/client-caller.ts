// Calls as a client: with an access token, which it fetches with the client's secret or a key of its own.

import { PaybellError } from '../plain/errors.ts'
import { type PrivateKey, readPrivateKey } from '../plain/private-key.ts'
import { makeTokenForm } from './assertion.ts'
import { type Bearer, type Caller, createCaller } from './caller.ts'
import { readService, type Service, type ServiceOptions } from './service-options.ts'
import { TokenKeeper } from './token.ts'
import { send, toJson } from './transport.ts'

/** A secret, or a private key of the client's own. */
export type Credentials = { clientId: string } & (
  | { clientSecret: string; privateKey?: undefined }
  | {
      /** PKCS#8 as PEM, a JWK, or a CryptoKey that may sign. It stays here: what is sent is signed with it. */
      privateKey: PrivateKey
      clientSecret?: undefined
      /**
       * The token endpoint as the service names it, where you reach it at another address than `PAYBELL_BASE_URL`;
       * otherwise `<baseUrl>/auth/token`.
       */
      audience?: string | undefined
    }
)

export type ClientOptions = Credentials &
  ServiceOptions & {
    /** The account that calls are about, unless they name another. */
    accountId?: string | undefined
    /** For tests: milliseconds since 1970. */
    now?: (() => number) | undefined
  }

export function createClientCaller(options: ClientOptions): Caller {
  const service = readService(options)
  const bearer = createTokenBearer(service, options, options.now)
  return createCaller({ ...service, bearer, accountId: options.accountId })
}

/** A token that is fetched when it is needed, kept, and fetched again when it is refused. */
export function createTokenBearer(
  service: Service,
  credentials: Credentials,
  now: () => number = Date.now,
): Bearer {
  const url = `${service.baseUrl}/auth/token`
  const request = readCredentials(url, credentials, now)
  const tokens = new TokenKeeper(async () => {
    // Without the caller's signal: other callers wait for the same token.
    const answer = await send(service.transport, {
      method: 'POST',
      url,
      headers: async () => ({
        accept: 'application/json',
        ...service.headers,
        'content-type': request.contentType,
      }),
      content: request.content,
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

/** What proves who asks, made anew for each try. Throws for what cannot work. */
function readCredentials(url: string, credentials: Credentials, now: () => number) {
  const { clientId, clientSecret, privateKey } = credentials
  if (typeof clientId !== 'string' || clientId === '') throw new TypeError('clientId is missing.')
  if (privateKey === undefined) {
    if (typeof clientSecret !== 'string' || clientSecret === '') {
      throw new TypeError('clientSecret is missing. Give it, or privateKey.')
    }
    const body = JSON.stringify({ clientId, clientSecret })
    return { contentType: 'application/json', content: async () => body }
  }
  if (clientSecret !== undefined) throw new TypeError('Give clientSecret or privateKey, not both.')
  const { audience = url } = credentials
  const key = readPrivateKey(privateKey)
  return {
    contentType: 'application/x-www-form-urlencoded',
    content: async () => makeTokenForm(await key(), { clientId, audience, nowMs: now() }),
  }
}
