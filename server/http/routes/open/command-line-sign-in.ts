// How `paybell login --sso` gets its session: the person is asked on a page of ours, the answer takes a code to the port on
// which the command line waits, and the command line fetches the session with it. It also signs out here.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../core/plain/errors.ts'
import { ROLES } from '../../../core/plain/operator.ts'
import { escapeHtml } from '../../../core/plain/text.ts'
import { toComparisonCode } from '../../../core/proofs/comparison-code.ts'
import type { CompanySignIn } from '../../../operations/people/company-sign-in.ts'
import {
  type CommandLine,
  QUESTION_SECONDS,
  type Question,
} from '../../../operations/people/hand-over.ts'
import { onlyHeaderValue } from '../../basics/header-values.ts'
import { Instant } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { App } from '../../basics/typed.ts'
import { formPageHeaders, HTML_PAGE_HEADERS } from '../../pages/html-page.ts'
import { isFromOwnPage, readCookie, setCookie } from '../../requests/console-cookie.ts'
import { FORM_TYPE } from '../../requests/token-form.ts'
import { toSignInPage } from './sign-in-page.ts'

const QUESTION_COOKIE = 'paybell_oidc_question'
const ANSWER_PATH = '/console/oidc/command-line'
const SESSION_PATH = '/console/oidc/session'
const BODY_BYTES_MAX = 16 * 1_024
/** 256 bits in base64url. */
export const RANDOM = '^[\\w-]{43}$'

const CommandLineSession = Type.Object({
  token: Type.String(),
  expiresAt: Instant,
  actor: Type.String(),
  role: Type.Enum([...ROLES]),
})

/** Whether this person wants it: a link alone must not sign in what listens on a port of the machine. */
export function sendQuestion(
  request: FastifyRequest,
  reply: FastifyReply,
  company: CompanySignIn,
  { who, role, commandLine, form, cookie }: Question,
) {
  setQuestion(request, reply, cookie)
  reply.headers(formPageHeaders(originOfPort(commandLine)))
  const code = toComparisonCode(commandLine.challenge)
  const body = [
    `<p>A command line on this machine asks to be signed in here as <strong>${escapeHtml(who)}</strong> of ${escapeHtml(company.name)}, with the role <strong>${role}</strong>, for 8 hours.</p>`,
    `<p>Its terminal shows the code <strong><code>${code}</code></strong>. Cancel if yours shows another one, or if you have not just run <code>paybell login --sso</code>.</p>`,
    `<form method="post" action="${ANSWER_PATH}"><input type="hidden" name="question" value="${form}">`,
    '<p><button name="answer" value="allow">Allow</button> <button name="answer" value="cancel">Cancel</button></p></form>',
  ]
  return reply.send(toSignInPage('Sign in the command line?', body.join('')))
}

/** Takes forms: its scope must be its own. */
export function addAnswer(app: App, company: CompanySignIn): void {
  app.route({
    method: 'POST',
    url: ANSWER_PATH,
    bodyLimit: BODY_BYTES_MAX,
    config: { mediaType: FORM_TYPE },
    schema: { hide: true },
    handler: async (request, reply) => {
      const cookie = readCookie(request, QUESTION_COOKIE)
      setQuestion(request, reply as FastifyReply, null)
      const fields = new URLSearchParams(String(request.body))
      const came = {
        form: fields.get('question') ?? '',
        isAllowed: fields.get('answer') === 'allow',
      }
      const answered =
        cookie === undefined || !isFromOwnPage(request)
          ? null
          : await company.handOver.answer({ ...came, cookie }, request.id)
      if (answered === null) return sendNotAsked(reply as FastifyReply)
      const { commandLine, code } = answered
      const query = new URLSearchParams({
        ...(code === null ? { error: 'access_denied' } : { code }),
        state: commandLine.state,
      })
      return reply.redirect(`${originOfPort(commandLine)}/?${query}`, 303)
    },
  })
}

export function addCommandLineSession(app: App, company: CompanySignIn): void {
  app.route({
    method: 'POST',
    url: SESSION_PATH,
    bodyLimit: BODY_BYTES_MAX,
    schema: {
      hide: true,
      body: Type.Object({
        code: Type.String({ minLength: 1, maxLength: 4_096 }),
        verifier: Type.String({ pattern: RANDOM }),
      }),
      response: { 200: CommandLineSession },
    },
    handler: async (request, reply) => {
      const session = await company.handOver.redeem(request.body.code, request.body.verifier)
      if (session === null) {
        throw new ServiceError('invalid-credentials', 'The sign-in has expired: start it again.')
      }
      return reply.send(session)
    },
  })

  app.route({
    method: 'DELETE',
    url: SESSION_PATH,
    schema: { hide: true },
    handler: async (request, reply) => {
      const [, token = ''] =
        /^Bearer (\S+)$/i.exec(onlyHeaderValue(request, 'authorization') ?? '') ?? []
      await app.consoleSessions.endBearer(token, request.id)
      // The same for one that has ended: whoever signs out is signed out.
      return reply.code(204).send()
    },
  })
}

function sendNotAsked(reply: FastifyReply) {
  const text =
    'This was not asked in this browser, or was asked more than 5 minutes ago. Nothing was signed in: run <code>paybell login --sso</code> again.'
  return reply
    .code(400)
    .headers(HTML_PAGE_HEADERS)
    .send(toSignInPage('Not signed in', `<p>${text}</p>`))
}

function setQuestion(request: FastifyRequest, reply: FastifyReply, value: string | null): void {
  const cookie = { name: QUESTION_COOKIE, value, seconds: QUESTION_SECONDS }
  setCookie(request, reply, { ...cookie, sameSite: 'Strict' })
}

function originOfPort({ port }: CommandLine): string {
  return `http://127.0.0.1:${port}`
}
