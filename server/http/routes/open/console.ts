// /console: the pages, as they were built, and their session. Everything that the pages load comes from here,
// and the content security policy allows nothing else. Where the settings name origins, their pages may show it to clients.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../core/plain/errors.ts'
import { ROLES } from '../../../core/plain/operator.ts'
import type { ConsoleSession, SignIn } from '../../../operations/access/console-session.ts'
import { viewFirstAccounts } from '../../../operations/clients/view-accounts.ts'
import type { CompanySignIn } from '../../../operations/people/company-sign-in.ts'
import { sendKept } from '../../answers/kept-file.ts'
import { Instant, TextOrNull, Uuid, WordOrNull } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { App, Routes } from '../../basics/typed.ts'
import { ConsoleFiles } from '../../pages/console-files.ts'
import {
  consolePlace,
  isFromConsole,
  readConsoleSession,
  readConsoleToken,
  setSessionCookie,
} from '../../requests/console-cookie.ts'
import { answer, forAnyone, HIDDEN } from '../../schemas/calls.ts'
import { EMPTY_BODY } from '../../schemas/schemas.ts'
import type { ServerDeps, Surface } from '../server-deps.ts'
import { originOf } from './company-sign-in.ts'

const policyWith = (frameAncestors: string, logo: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${logo}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors}`,
    "require-trusted-types-for 'script'",
  ].join('; ')

const ACCOUNTS_SHOWN_MAX = 100
const CREDENTIAL_CHARACTERS_MAX = 1_024
const BODY_BYTES_MAX = 8 * 1_024
const tags = ['Console']

/** Checked by isFromConsole, with the origin. */
const ConsoleHeader = Type.Object({
  'X-Paybell-Console': Type.Enum(['1', 'embedded'], {
    description:
      'What no form, image or link can send. `embedded` in a page of another origin (`PAYBELL_CONSOLE_EMBED_ORIGINS`).',
  }),
})

const Secret = Type.String({ minLength: 1, maxLength: CREDENTIAL_CHARACTERS_MAX })

const SignInRequest = Type.Object(
  {
    operatorKey: Type.Optional(Secret),
    clientId: Type.Optional(Secret),
    clientSecret: Type.Optional(Secret),
    link: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: CREDENTIAL_CHARACTERS_MAX,
        description: 'What stands behind the # of a one-time link.',
      }),
    ),
  },
  {
    published: {
      oneOf: [
        { required: ['operatorKey'] },
        { required: ['clientId', 'clientSecret'] },
        { required: ['link'] },
      ],
    },
    examples: [{ operatorKey: 'pbk_the-key' }],
  },
)

export const Session = Type.Object({
  kind: WordOrNull(['operator', 'client'], 'Null when no one is signed in.'),
  actor: Type.Optional(Type.String({ description: 'The name of the operator’s key.' })),
  role: Type.Optional(Type.Enum([...ROLES])),
  clientId: Type.Optional(Uuid),
  clientName: Type.Optional(Type.String()),
  accounts: Type.Optional(
    Type.Array(Type.Object({ id: Uuid, name: Type.String() }), {
      description: `The client’s accounts, oldest first, ${ACCOUNTS_SHOWN_MAX} at most.`,
    }),
  ),
  mode: Type.Enum(['sandbox', 'production']),
  version: Type.String(),
  timeScale: Type.Number(),
  command: Type.Optional(
    Type.String({ description: 'What to type for `paybell` where this sandbox was started.' }),
  ),
  expiresAt: Type.Optional(Instant),
  theme: Type.Optional(
    Type.Object(
      { name: TextOrNull(), accent: TextOrNull(), logo: TextOrNull() },
      { description: 'How the console looks (`PAYBELL_CONSOLE_THEME`).' },
    ),
  ),
  signInWith: Type.Optional(
    Type.String({ description: 'Where operators can sign in with their company, if they can.' }),
  ),
})

const SignedOut = Type.Object({
  signOutUrl: Type.String({ description: 'Leads on, to sign out at the company, too.' }),
})

export interface ConsoleRoutesDeps extends ServerDeps {
  surface: Surface
  /** Null where people do not sign in with their company. */
  company: CompanySignIn | null
}

export function consoleRoutes(deps: ConsoleRoutesDeps): Routes {
  return (app) => {
    const { embedOrigins, consoleTheme } = deps.config
    addPages(app, deps.surface === 'operator' ? [] : embedOrigins, consoleTheme?.logo ?? null)
    addSession(app, deps)
  }
}

/** Pages of the origins given may show it in a frame; without any, no page may. */
function addPages(app: App, embedOrigins: readonly string[], logo: string | null): void {
  const files = new ConsoleFiles()
  const isEmbeddable = embedOrigins.length > 0
  const policy = policyWith(
    isEmbeddable ? embedOrigins.join(' ') : "'none'",
    logo === null ? '' : ` ${logo}`,
  )
  const send = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = (request.params as { '*'?: string })['*'] ?? ''
    const file = await files.find(path)
    if (file === 'not-built') return sendNotBuilt(reply)
    if (file === null) throw new ServiceError('not-found', 'The console has no such file.')
    // It knows no origins, and the policy says more.
    if (isEmbeddable) reply.removeHeader('x-frame-options')
    return sendKept(request, reply, file, {
      'content-security-policy': policy,
      'content-type': file.type,
      'cache-control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
  }
  for (const url of ['/console', '/console/*']) {
    app.get(url, HIDDEN, send)
  }
}

function sendNotBuilt(reply: FastifyReply) {
  return reply
    .code(503)
    .type('text/plain; charset=utf-8')
    .send(
      'The console is not built. In the folder of Paybell, with its development dependencies:\n\n  npm run build:console\n\nThen load this page again. Everything else works without it.\n',
    )
}

function addSession(app: App, deps: ConsoleRoutesDeps): void {
  app.route({
    method: 'POST',
    url: '/console/session',
    bodyLimit: BODY_BYTES_MAX,
    onRequest: async (request) => {
      // Another site must not sign a visitor in, not even as another user.
      if (!isFromConsole(request)) throw notFromConsole()
    },
    ...forAnyone({
      operationId: 'signIn',
      tags,
      summary: 'Sign in at the console',
      description:
        'With an operator’s key, a client’s credentials or a one-time link: one of them. The cookie `paybell_session`, or `__Host-paybell_session` where the service is reached by HTTPS, counts as that credential for 12 hours, on requests with the header `X-Paybell-Console: 1` from the same origin. It ends with the key, the secret or the client.',
      headers: ConsoleHeader,
      body: SignInRequest,
      answers: {
        204: answer('Signed in: the session is in the cookie.', EMPTY_BODY),
      },
      problems: ['malformed-request', 'invalid-credentials', 'keys-only', 'too-many-requests'],
    }),
    handler: async (request, reply) => {
      const isEmbedded = consolePlace(request) === 'embedded'
      const signIn = isEmbedded
        ? toEmbeddedSignIn(request.body, deps.surface)
        : toSignIn(request.body, deps.surface)
      const from = { address: request.ip, requestId: request.id }
      const token = await app.consoleSessions.open(signIn, from)
      setSessionCookie(request, reply as FastifyReply, token)
      return reply.code(204).send(undefined)
    },
  })

  app.route({
    method: 'GET',
    url: '/console/session',
    ...forAnyone({
      operationId: 'readSession',
      tags,
      summary: 'Who is signed in at the console',
      description: 'Also tells whether this is a sandbox, and how fast its clock runs.',
      answers: {
        200: answer('The session; `kind` is null when no one is signed in.', Session),
      },
    }),
    handler: async (request) => {
      const session = (await readConsoleSession(request)) ?? null
      const about = {
        mode: deps.config.mode,
        version: deps.version,
        timeScale: deps.policies.timeScale,
        ...(deps.config.consoleTheme === null ? {} : { theme: deps.config.consoleTheme }),
        ...(deps.company && isWelcome('operator', deps.surface)
          ? { signInWith: deps.company.name }
          : {}),
      }
      // Cookies do not distinguish ports: a session without access to this port's routes counts as none here.
      if (session === null || !isWelcome(session.kind, deps.surface))
        return { kind: null, ...about }
      const { command } = deps
      const body = { ...(await toSessionBody(deps, session)), ...about }
      return command === undefined ? body : { ...body, command }
    },
  })

  app.route({
    method: 'DELETE',
    url: '/console/session',
    ...forAnyone({
      operationId: 'signOut',
      tags,
      summary: 'Sign out of the console',
      description:
        'Ends the session: in the process that answers at once, in the others within 2 seconds.',
      headers: ConsoleHeader,
      answers: {
        200: answer('Signed out here, of a session that began at the company.', SignedOut),
        204: answer('Signed out.', EMPTY_BODY),
      },
      problems: ['malformed-request'],
    }),
    handler: async (request, reply) => {
      if (!isFromConsole(request)) throw notFromConsole()
      const token = readConsoleToken(request)
      const session = token === undefined ? null : await app.consoleSessions.verify(token)
      if (token !== undefined) await app.consoleSessions.end(token, request.id)
      setSessionCookie(request, reply as FastifyReply, null)
      const returnTo = `${originOf(request, deps, deps.surface)}/console/`
      const signOutUrl = session && (await deps.company?.signOutUrl(session, returnTo))
      if (signOutUrl) return reply.code(200).send({ signOutUrl })
      return reply.code(204).send(undefined)
    },
  })
}

function isWelcome(kind: ConsoleSession['kind'], surface: Surface): boolean {
  return surface === 'all' || (surface === 'operator') === (kind === 'operator')
}

type SignInBody = Readonly<Record<string, string | undefined>>

function toSignIn(body: SignInBody, surface: Surface): SignIn {
  const { operatorKey, clientId, clientSecret, link } = body
  const given = [operatorKey, clientId ?? clientSecret, link].filter((one) => one !== undefined)
  if (given.length !== 1) throw oneCredential()
  if (clientId !== undefined && clientSecret !== undefined) {
    if (isWelcome('client', surface)) return { clientId, clientSecret }
    throw elsewhere('Clients sign in at the public address of the service.')
  }
  if (link !== undefined) {
    const kinds = (['operator', 'client'] as const).filter((kind) => isWelcome(kind, surface))
    return { link, kinds }
  }
  // Half a client's credential is none of an operator.
  if (operatorKey === undefined) throw oneCredential()
  if (isWelcome('operator', surface)) return { operatorKey }
  throw elsewhere('Operators sign in at the operator’s own port.')
}

/** By the one-time link of a client alone: who types a key or a secret should see whose page it is. */
function toEmbeddedSignIn({ link, ...others }: SignInBody, surface: Surface): SignIn {
  if (link === undefined || Object.keys(others).length > 0 || !isWelcome('client', surface)) {
    throw elsewhere(
      'In a page of another origin, a client’s console link signs in, and nothing else.',
    )
  }
  return { link, kinds: ['client'] }
}

function oneCredential(): ServiceError {
  const detail = 'Send operatorKey, or clientId and clientSecret, or link.'
  return new ServiceError('invalid-fields', detail, {
    errors: [{ pointer: '', code: 'one-credential', detail }],
  })
}

function elsewhere(detail: string): ServiceError {
  return new ServiceError('invalid-credentials', detail)
}

function notFromConsole(): ServiceError {
  return new ServiceError(
    'malformed-request',
    'Send the header X-Paybell-Console: 1, from the origin of the console itself.',
  )
}

async function toSessionBody(deps: ServerDeps, session: ConsoleSession) {
  const expiresAt = session.expiresAt.toISOString()
  if (session.kind === 'operator') {
    return { kind: session.kind, ...session.operator, expiresAt }
  }
  const { clientId, clientKey } = session.caller
  const accounts = await viewFirstAccounts(deps, clientKey, ACCOUNTS_SHOWN_MAX)
  return {
    kind: session.kind,
    clientId,
    clientName: session.clientName,
    accounts: [...accounts],
    expiresAt,
  }
}
