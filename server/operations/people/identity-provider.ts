// The company's OpenID Connect provider, by openid-client, which is loaded when the first person signs in. The operator
// has named its address, so it is not guarded as callbacks are; every request to it has a limit in time and size.

import { createRemoteJWKSet, customFetch as joseFetch, jwtVerify } from 'jose'
import type { ClientAuth, Configuration } from 'openid-client'
import type { OidcSettings } from '../../config/config.ts'
import { Remembered } from '../../core/plain/remembered.ts'

const REQUEST_SECONDS_MAX = 5
const ANSWER_BYTES_MAX = 512 * 1_024
/** What the provider says about itself is read again this often. */
const DISCOVERED_MS = 10 * 60_000
const CLOCKS_APART_SECONDS = 60
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/** `away`: ask later; `refused`: it said no; `unverified`: what it sent does not hold. */
export type ProviderFault = 'away' | 'refused' | 'unverified'

export class ProviderFailure extends Error {
  readonly fault: ProviderFault

  constructor(fault: ProviderFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'ProviderFailure'
    this.fault = fault
  }
}

/** What this sign-in is recognised by when it comes back. */
export interface Begun {
  state: string
  nonce: string
  verifier: string
}

export interface Vouched {
  claims: Readonly<Record<string, unknown>>
  idToken: string
}

/** Either names whom it is about. */
interface Logout {
  subject: string | null
  sid: string | null
  jti: string
}

interface Discovered {
  client: typeof import('openid-client')
  configuration: Configuration
  keys: ReturnType<typeof createRemoteJWKSet>
}

export class IdentityProvider {
  readonly #settings: OidcSettings
  readonly #discovered: Remembered<void, Discovered>

  constructor(settings: OidcSettings, monotonicMs: () => number) {
    this.#settings = settings
    this.#discovered = new Remembered({
      keysMax: 1,
      expiry: { monotonicMs, ageMsMax: DISCOVERED_MS },
    })
  }

  /** Where the browser goes, and what to keep until it is back. */
  begin(redirectUri: string): Promise<{ url: string; begun: Begun }> {
    return this.#asking(async ({ client, configuration }) => {
      const verifier = client.randomPKCECodeVerifier()
      const begun = { state: client.randomState(), nonce: client.randomNonce(), verifier }
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: this.#scope(configuration),
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, begun }
    })
  }

  /** The code for an ID token whose signature, issuer, audience, nonce and times hold. */
  finish(cameTo: URL, { state, nonce, verifier }: Begun): Promise<Vouched> {
    return this.#asking(async ({ client, configuration }) => {
      const tokens = await client.authorizationCodeGrant(configuration, cameTo, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims = { ...tokens.claims() }
      // OpenID Connect Core §3.1.3.7 (5): a token that was made for another party is not ours.
      if (claims.azp !== undefined && claims.azp !== this.#settings.clientId) {
        throw new ProviderFailure('unverified', 'the ID token was issued to another client (azp)')
      }
      return { claims, idToken: tokens.id_token as string }
    })
  }

  /** Where the browser ends the provider's own session; null where that is not offered. */
  signOutUrl(idToken: string | null, returnTo: string): Promise<string | null> {
    return this.#asking(async ({ client, configuration }) => {
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null
      return client.buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: returnTo,
        ...(idToken === null ? {} : { id_token_hint: idToken }),
      }).href
    })
  }

  /** Whom the provider has signed out (OpenID Connect Back-Channel Logout 1.0 §2.6). */
  readLogout(token: string): Promise<Logout> {
    return this.#asking(async ({ configuration, keys }) => {
      const { payload } = await jwtVerify(token, keys, {
        issuer: configuration.serverMetadata().issuer,
        audience: this.#settings.clientId,
        requiredClaims: ['iat', 'jti', 'events'],
        maxTokenAge: '5m',
        clockTolerance: CLOCKS_APART_SECONDS,
      })
      const { events, sub, sid, jti } = payload
      const subject = typeof sub === 'string' ? sub : null
      const named = typeof sid === 'string' ? sid : null
      const isLogout = typeof events === 'object' && events !== null && LOGOUT_EVENT in events
      // An ID token has a nonce: it must not pass for an order to sign out.
      const isWhole = isLogout && !('nonce' in payload) && typeof jti === 'string'
      if (!isWhole || (subject ?? named) === null) {
        throw new ProviderFailure('unverified', 'not a logout token')
      }
      return { subject, sid: named, jti }
    })
  }

  async #asking<Answer>(ask: (from: Discovered) => Promise<Answer>): Promise<Answer> {
    try {
      return await ask(await this.#discovered.get(undefined, () => this.#discover()))
    } catch (error) {
      throw toFailure(error)
    }
  }

  async #discover(): Promise<Discovered> {
    const client = await import('openid-client')
    const { issuer, clientId, clientSecret } = this.#settings
    const isPlain = new URL(issuer).protocol === 'http:'
    const configuration = await client.discovery(
      new URL(issuer),
      clientId,
      { client_secret: clientSecret, [client.clockTolerance]: CLOCKS_APART_SECONDS },
      authenticateBy(client, clientSecret),
      {
        timeout: REQUEST_SECONDS_MAX,
        [client.customFetch]: (url, options) => fetchWithin(url, options as RequestInit),
        execute: [
          // An admin's role must not rest on one TLS connection alone: whoever ends TLS in between could make one.
          client.enableNonRepudiationChecks,
          // Only a sandbox may name such an address (config/oidc-settings.ts).
          ...(isPlain ? [client.allowInsecureRequests] : []),
        ],
      },
    )
    const { jwks_uri, issuer: named } = configuration.serverMetadata()
    // The library lets some providers answer for many companies: only the one of the setting may vouch for people.
    if (new URL(named).href !== new URL(issuer).href) {
      throw new ProviderFailure('away', `it calls itself ${named}`)
    }
    if (jwks_uri === undefined) throw new ProviderFailure('away', 'it publishes no keys')
    const keys = createRemoteJWKSet(new URL(jwks_uri), {
      timeoutDuration: REQUEST_SECONDS_MAX * 1_000,
      [joseFetch]: (url: string, options: RequestInit) => fetchWithin(url, options),
    })
    return { client, configuration, keys }
  }

  /** Some providers name a person's groups only to those who ask for them. */
  #scope(configuration: Configuration): string {
    const { roleClaim } = this.#settings
    const offered = configuration.serverMetadata().scopes_supported ?? []
    return offered.includes(roleClaim) ? `openid email ${roleClaim}` : 'openid email'
  }
}

/** As the provider takes the secret (OpenID Connect Discovery §3: in the header, where it does not say). */
function authenticateBy(client: Discovered['client'], secret: string): ClientAuth {
  const post = client.ClientSecretPost(secret)
  const basic = client.ClientSecretBasic(secret)
  return (provider, ...request) => {
    const taken = provider.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const method = taken.includes('client_secret_post') ? post : basic
    method(provider, ...request)
  }
}

/** The answer, whole: what takes too long or is too large counts as none. Redirects are not followed. */
async function fetchWithin(url: string, options: RequestInit): Promise<Response> {
  const signal = AbortSignal.timeout(REQUEST_SECONDS_MAX * 1_000)
  try {
    const answer = await fetch(url, { ...options, redirect: 'manual', signal })
    if (answer.status >= 500) throw new Error(`it answered ${answer.status}`)
    const { status, headers } = answer
    const bytes = await readWithin(answer)
    return new Response(bytes.length === 0 ? null : bytes, { status, headers })
  } catch (error) {
    throw new ProviderFailure('away', 'no answer that can be used', error)
  }
}

async function readWithin({ body }: Response): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error('its answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The libraries wrap what was thrown beneath them. */
function toFailure(error: unknown): ProviderFailure {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderFailure) return cause
    if (cause.name === 'AuthorizationResponseError') {
      return new ProviderFailure('refused', cause.message, error)
    }
  }
  return new ProviderFailure('unverified', error instanceof Error ? error.message : '', error)
}
