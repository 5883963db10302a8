// /console/oidc: people sign in with their company. The browser is sent to the provider and comes back with a code; the
// session that follows is that of the console, or, if the person agrees, of a command line (command-line-sign-in.ts).

import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../core/plain/errors.ts'
import { escapeHtml } from '../../../core/plain/text.ts'
import { PERSON_SESSION_SECONDS } from '../../../operations/access/console-session.ts'
import {
  BEGUN_SECONDS,
  type CompanySignIn,
  describe,
  type SignedIn,
} from '../../../operations/people/company-sign-in.ts'
import type { CommandLine } from '../../../operations/people/hand-over.ts'
import { ProviderFailure } from '../../../operations/people/identity-provider.ts'
import { Type } from '../../basics/type.ts'
import type { App, Routes } from '../../basics/typed.ts'
import { HTML_PAGE_HEADERS } from '../../pages/html-page.ts'
import { readCookie, setCookie, setSessionCookie } from '../../requests/console-cookie.ts'
import { FORM_TYPE } from '../../requests/token-form.ts'
import { HIDDEN } from '../../schemas/calls.ts'
import type { ServerDeps, Surface } from '../server-deps.ts'
import { addAnswer, addCommandLineSession, RANDOM, sendQuestion } from './command-line-sign-in.ts'
import { toSignInPage } from './sign-in-page.ts'

const STATE_COOKIE = 'paybell_oidc'
const BODY_BYTES_MAX = 16 * 1_024
const PORT_MAX = 65_535
const LOGOUT_PATH = '/console/oidc/backchannel-logout'

/** None where people do not sign in with their company, and none on the port of clients. */
export function companySignInRoutes(
  deps: ServerDeps,
  surface: Surface,
  company: CompanySignIn | null,
): Routes {
  return async (app) => {
    if (company === null || surface === 'public') return
    addSignIn(app, company, (request) => originOf(request, deps, surface))
    addCommandLineSession(app, company)
    // A scope of its own: no other route takes a form as its text.
    await app.register(async (scope: App) => {
      scope.addContentTypeParser(FORM_TYPE, { parseAs: 'string' }, (_request, text, done) =>
        done(null, text),
      )
      addAnswer(scope, company)
      addLogout(scope, company)
    })
  }
}

/** The console's own address, as browsers know it. The operator's port has no setting for it. */
export function originOf(
  request: FastifyRequest,
  deps: Pick<ServerDeps, 'baseUrl'>,
  surface: Surface,
): string {
  return surface === 'operator' ? `${request.protocol}://${request.host}` : deps.baseUrl()
}

function addSignIn(
  app: App,
  company: CompanySignIn,
  origin: (request: FastifyRequest) => string,
): void {
  app.route({
    method: 'GET',
    url: '/console/oidc/sign-in',
    schema: {
      hide: true,
      querystring: Type.Object({
        port: Type.Optional(Type.String({ pattern: '^[1-9]\\d{3,4}$' })),
        state: Type.Optional(Type.String({ pattern: RANDOM })),
        challenge: Type.Optional(Type.String({ pattern: RANDOM })),
      }),
    },
    handler: async (request, reply) => {
      try {
        const redirectUri = `${origin(request)}/console/oidc/callback`
        const begun = await company.begin(redirectUri, toCommandLine(request.query), request.ip)
        setState(request, reply as FastifyReply, begun.cookie)
        return reply.header('cache-control', 'no-store').redirect(begun.url)
      } catch (error) {
        if (!(error instanceof ProviderFailure)) throw error
        const failed = { kind: 'failed', fault: error.fault, reason: describe(error) } as const
        return sendFailure(request, reply as FastifyReply, company, failed)
      }
    },
  })

  app.get('/console/oidc/callback', HIDDEN, async (request, reply) => {
    const query = request.url.split('?')[1] ?? ''
    const cookie = readCookie(request, STATE_COOKIE)
    const done = await company.finish({ query, cookie, address: request.ip }, request.id)
    // A state is good for one return.
    if (cookie !== undefined) setState(request, reply as FastifyReply, null)
    reply.header('cache-control', 'no-store')
    if (done.kind === 'signed-in') {
      setSessionCookie(request, reply as FastifyReply, done.token, PERSON_SESSION_SECONDS)
      return reply.redirect('/console/')
    }
    if (done.kind === 'asks') {
      return sendQuestion(request, reply as FastifyReply, company, done.question)
    }
    return sendFailure(request, reply as FastifyReply, company, done)
  })
}

function setState(request: FastifyRequest, reply: FastifyReply, value: string | null): void {
  // Lax: the browser comes back from another site.
  setCookie(request, reply, { name: STATE_COOKIE, value, seconds: BEGUN_SECONDS, sameSite: 'Lax' })
}

function toCommandLine(query: {
  port?: string
  state?: string
  challenge?: string
}): CommandLine | null {
  const { port, state, challenge } = query
  if (port === undefined && state === undefined && challenge === undefined) return null
  if (port === undefined || state === undefined || challenge === undefined) {
    throw new ServiceError('malformed-request', 'Send port, state and challenge together.')
  }
  if (Number(port) > PORT_MAX) {
    throw new ServiceError('malformed-request', `There is no port above ${PORT_MAX}.`)
  }
  return { port: Number(port), state, challenge }
}

/** OpenID Connect Back-Channel Logout 1.0 §2.5 and §2.8. */
function addLogout(app: App, company: CompanySignIn): void {
  app.route({
    method: 'POST',
    url: LOGOUT_PATH,
    bodyLimit: BODY_BYTES_MAX,
    config: { mediaType: FORM_TYPE },
    schema: { hide: true },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const [token = '', ...others] = new URLSearchParams(String(request.body)).getAll(
        'logout_token',
      )
      try {
        if (others.length > 0) throw new ProviderFailure('unverified', 'two logout tokens')
        await company.endSessions(token, request.id)
        return reply.code(200).send()
      } catch (error) {
        if (!(error instanceof ProviderFailure)) throw error
        request.log.warn({ reason: describe(error) }, 'oidc.logout-refused')
        return reply.code(400).send({ error: 'invalid_request' })
      }
    },
  })
}

const FAULTS = {
  'not-begun': {
    status: 400,
    text: () =>
      'This sign-in was not begun in this browser, or was begun more than 10 minutes ago.',
  },
  away: {
    status: 503,
    text: (name: string) =>
      `${name} cannot be reached from here at the moment. Operator keys work all the same.`,
  },
  refused: { status: 403, text: (name: string) => `${name} has refused the sign-in.` },
  unverified: {
    status: 400,
    text: (name: string) =>
      `What ${name} has answered could not be verified. The log of Paybell says why.`,
  },
}

function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  company: CompanySignIn,
  done: Extract<SignedIn, { kind: 'no-role' | 'failed' }>,
) {
  reply.headers({ ...HTML_PAGE_HEADERS, 'cache-control': 'no-store' })
  if (done.kind === 'no-role') {
    const rows = company.settings.roles.map(
      ({ group, role }) => `<li><code>${escapeHtml(group)}</code>: ${role}</li>`,
    )
    const text = `You are ${escapeHtml(done.who)} at ${escapeHtml(company.name)}, and in none of the groups that have a role here:`
    return reply.code(403).send(toSignInPage('No role', `<p>${text}</p><ul>${rows.join('')}</ul>`))
  }
  request.log.warn({ fault: done.fault, reason: done.reason }, 'oidc.sign-in-failed')
  const { status, text } = FAULTS[done.fault]
  return reply
    .code(status)
    .send(toSignInPage('Sign-in failed', `<p>${escapeHtml(text(company.name))}</p>`))
}
