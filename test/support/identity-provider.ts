// A company's OpenID Connect provider: oidc-provider on a port of its own. Nobody types a password: whoever a test names
// is the person in front of the browser.

import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt, type JWTPayload, SignJWT } from 'jose'
// @ts-expect-error it comes without types
import Provider from 'oidc-provider'
import type { Owner } from './owner.ts'

export const OIDC_CLIENT = { id: 'paybell', secret: randomBytes(32).toString('base64url') }

export interface CompanyPerson {
  email?: string
  groups?: readonly string[] | string
}

export interface TestIdentityProvider {
  issuer: string
  /** By subject. */
  people: Map<string, CompanyPerson>
  /** Who is in front of the browser. */
  at: string
  /** The settings of a service that asks it. */
  env: Record<string, string>
  /** From here on it knows Paybell, at this address; it sends logouts to the other one. */
  know(paybellUrl: string, logoutUrl?: string): void
  /** What answers instead of it; null: it does. */
  instead: RequestListener | null
  /** Requests that came, by path. */
  asked: string[]
  /** The schemes in which those who asked for a token have sent a header of authorization; null for none. */
  tokenSchemes: (string | null)[]
  /** The ID tokens that it has given. */
  issued: string[]
  /** What it gives in place of an ID token, made of that one's claims; null: the token. */
  replaceIdToken: ((claims: JWTPayload) => Promise<string>) | null
  /** A token with these claims, and with its own signature. */
  sign(claims: JWTPayload): Promise<string>
  /** What it sends to sign someone out, with its own signature. */
  logoutToken(claims: Readonly<Record<string, unknown>>): Promise<string>
  stop(): Promise<void>
}

export async function startIdentityProvider(
  t: Owner,
  /** How it takes the secret. */
  method: 'client_secret_basic' | 'client_secret_post' = 'client_secret_basic',
): Promise<TestIdentityProvider> {
  let listener: RequestListener = (_request, response) => response.writeHead(503).end()
  const server = createServer((request, response) => {
    company.asked.push(request.url ?? '')
    if (request.url === '/token') {
      company.tokenSchemes.push(request.headers.authorization?.split(' ')[0] ?? null)
    }
    return (company.instead ?? listener)(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = async () => {
    server.closeAllConnections()
    if (server.listening) await new Promise((done) => server.close(done))
  }
  t.after(stop)
  const company: TestIdentityProvider = {
    issuer,
    people: new Map(),
    at: '',
    asked: [],
    tokenSchemes: [],
    issued: [],
    replaceIdToken: null,
    sign: (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(privateKey),
    env: {
      PAYBELL_OIDC_ISSUER: issuer,
      PAYBELL_OIDC_CLIENT_ID: OIDC_CLIENT.id,
      PAYBELL_OIDC_CLIENT_SECRET: OIDC_CLIENT.secret,
      PAYBELL_OIDC_ROLES: 'payments-admins=admin,support=viewer',
    },
    know(paybellUrl, logoutUrl = paybellUrl) {
      listener = toListener(company, { paybellUrl, logoutUrl, method })
    },
    logoutToken: (claims) =>
      new SignJWT({
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
        ...claims,
      })
        .setProtectedHeader({ alg: 'RS256', typ: 'logout+jwt' })
        .setIssuer(issuer)
        .setAudience(OIDC_CLIENT.id)
        .setIssuedAt()
        .setExpirationTime('2m')
        .sign(privateKey),
    instead: null,
    stop,
  }
  return company
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const JWKS = { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] }
const SCOPES = 'openid email groups'

function toListener(
  company: TestIdentityProvider,
  { paybellUrl, logoutUrl, method }: { paybellUrl: string; logoutUrl: string; method: string },
): RequestListener {
  const provider = new Provider(company.issuer, {
    clients: [
      {
        client_id: OIDC_CLIENT.id,
        client_secret: OIDC_CLIENT.secret,
        token_endpoint_auth_method: method,
        redirect_uris: [`${paybellUrl}/console/oidc/callback`],
        post_logout_redirect_uris: [`${paybellUrl}/console/`],
        backchannel_logout_uri: `${logoutUrl}/console/oidc/backchannel-logout`,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: JWKS,
    clientAuthMethods: [method],
    // Its guard against private addresses keeps it from this machine, where the service is in tests.
    fetch: (url: string, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown }) =>
      fetch(url, options),
    cookies: { keys: [randomBytes(16).toString('hex')] },
    claims: { openid: ['sub'], email: ['email'], groups: ['groups'] },
    // What most providers do: the claims of the scopes are in the ID token.
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        // No question: the form sends itself in a browser, and tests send it.
        logoutSource: (context: { body: string }, form: string) => {
          context.body = `<!doctype html><html lang="en"><title>Out</title>${form}<button form="op.logoutForm" name="logout" value="yes">Yes</button></html>`
        },
      },
    },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, ...company.people.get(sub) }),
    }),
    // The company has agreed for everyone.
    loadExistingGrant: async (context: GrantContext) => {
      const { client, session } = context.oidc
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
      grant.addOIDCScope(SCOPES)
      await grant.save()
      return grant
    },
    ttl: { AccessToken: 600, IdToken: 600, Session: 86_400, Grant: 86_400, Interaction: 600 },
  })
  provider.on('grant.success', ({ body }: { body: { id_token: string } }) =>
    company.issued.push(body.id_token),
  )
  const callback = provider.callback()
  return (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/token') replaceIdToken(company, response)
    if (request.url?.startsWith('/interaction/') !== true) return callback(request, response)
    const login = { login: { accountId: company.at } }
    return provider.interactionFinished(request, response, login, {
      mergeWithLastSubmission: false,
    })
  }
}

function replaceIdToken(company: TestIdentityProvider, response: ServerResponse): void {
  const end = response.end.bind(response) as (body: string) => void
  response.end = ((text: string | Buffer) => {
    const body = JSON.parse(String(text))
    const { replaceIdToken: replace } = company
    const replaced =
      replace === null || !body.id_token ? body.id_token : replace(decodeJwt(body.id_token))
    Promise.resolve(replaced).then((id_token) => {
      const changed = JSON.stringify({ ...body, ...(id_token && { id_token }) })
      response.setHeader('content-length', Buffer.byteLength(changed))
      end(changed)
    })
    return response
  }) as typeof response.end
}

interface GrantContext {
  oidc: { client: { clientId: string }; session: { accountId: string } }
}
