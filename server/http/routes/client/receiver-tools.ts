// Tools for authors of receivers, at each door: the signature doctor, and the check that drives a receiver
// through a fixed list.

import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { type CheckReport, STEP_RESULTS } from '../../../core/checking/receiver-check.ts'
import { renderReport } from '../../../core/checking/receiver-report.ts'
import { PAYMENT_BODY_BYTES_MAX } from '../../../core/payments/payment.ts'
import { ServiceError } from '../../../core/plain/errors.ts'
import { FINDING_CODES } from '../../../core/signatures/signature-findings.ts'
import { RateBuckets } from '../../../operations/access/rate-buckets.ts'
import { ReceiverChecker } from '../../../operations/endpoints/check-receiver.ts'
import { verifySignature } from '../../../operations/endpoints/verify-signature.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { UnderWay } from '../../../operations/shared/under-way.ts'
import type { LargeWork } from '../../basics/large-work.ts'
import { Instant, TextOrNull } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { App, Routes } from '../../basics/typed.ts'
import { callerOf, scopeOf } from '../../requests/authenticate.ts'
import { ReceivedCallback, readBody, readHeaders } from '../../requests/received-callback.ts'
import { forClients } from '../../schemas/calls.ts'
import { ENDPOINT_DOORS, type EndpointDoor } from '../../schemas/endpoint-doors.ts'
import { IdParams, readId } from '../../schemas/schemas.ts'
import { whenClosed } from '../../sockets/when-closed.ts'

/** The largest callback in base64, and its headers. */
const VERIFY_BODY_BYTES_MAX = Math.ceil(PAYMENT_BODY_BYTES_MAX / 3) * 4 + 64 * 1_024

/** Callbacks without a file, in any spelling. */
const SMALL_BODY_BYTES_MAX = 64 * 1_024

/** Bytes of large bodies that are arriving or being looked at: all of them are in memory until the answer is out. */
const LARGE_BODY_BYTES = { max: 8 * VERIFY_BODY_BYTES_MAX, perClientMax: 2 * VERIFY_BODY_BYTES_MAX }

export const FindingCodeSchema = Type.Enum([...FINDING_CODES])

const FindingSchema = Type.Object({
  code: FindingCodeSchema,
  detail: Type.String(),
})

export const DiagnosisSchema = Type.Object(
  {
    valid: Type.Boolean({ description: 'True only when the signature truly verifies, in time.' }),
    findings: Type.Array(FindingSchema),
  },
  {
    description: 'What the signature doctor says.',
    examples: [
      {
        valid: false,
        findings: [
          {
            code: 'body-reserialised',
            detail: 'The body was parsed and written again: verify the raw bytes.',
          },
        ],
      },
    ],
  },
)

export const CheckedStepSchema = Type.Object({
  code: Type.String(),
  title: Type.String(),
  result: Type.Enum([...STEP_RESULTS]),
  reason: Type.String(),
  mend: TextOrNull('What to do about it; null where there is nothing to do.'),
})

export const ReportSchema = Type.Object(
  {
    url: Type.String(),
    at: Instant,
    durationMs: Type.Integer(),
    passed: Type.Boolean({ description: 'True when no step has failed.' }),
    counts: Type.Object({
      pass: Type.Integer(),
      fail: Type.Integer(),
      warning: Type.Integer(),
    }),
    steps: Type.Array(CheckedStepSchema),
  },
  { description: 'How a receiver did.' },
)

/** What bounds the bodies above SMALL_BODY_BYTES_MAX, by client id. */
interface LargeBodies {
  rate: RateBuckets
  bytes: UnderWay<string>
  work: LargeWork
}

export function receiverToolRoutes(deps: Deps, work: LargeWork): Routes {
  const checker = new ReceiverChecker(deps)
  const large: LargeBodies = {
    // A body of 14 MB is hashed several times, so large bodies are limited. Small ones cost little, and a
    // developer who looks for a mistake asks often.
    rate: new RateBuckets({
      burst: 20,
      perSecond: 2,
      keysMax: 10_000,
      monotonicMs: () => deps.clock.monotonicMs(),
    }),
    bytes: new UnderWay(LARGE_BODY_BYTES),
    work,
  }
  return (app) => {
    for (const door of ENDPOINT_DOORS) {
      addVerify(app, deps, large, door)
      // The receiver of a listener is checked on its own machine, with paybell check URL.
      if (door.kind !== 'listener') addCheck(app, checker, door)
    }
  }
}

function addVerify(app: App, deps: Deps, large: LargeBodies, door: EndpointDoor): void {
  app.route({
    method: 'POST',
    url: `${door.path}/:id/verify`,
    bodyLimit: VERIFY_BODY_BYTES_MAX,
    // Before the body is read, because reading it is expensive.
    onRequest: async (request, reply) => {
      if (isLarge(request)) admit(large, request, reply.raw)
    },
    ...forClients({
      operationId: `verify${door.name}Signature`,
      tags: door.tags,
      summary: 'Ask the signature doctor why a signature does not match',
      description:
        'Give the headers and the body that your receiver got, or that it computed. The findings name the mistake; no key is ever shown.',
      params: IdParams,
      body: ReceivedCallback,
      answers: { 200: DiagnosisSchema },
      problems: ['overloaded'],
    }),
    handler: async (request) => {
      const { headers, body: text, bodyBase64 } = request.body
      const given = readHeaders(headers)
      const body = await large.work.runSteps(readBody(text, bodyBase64))
      const { valid, findings } = await verifySignature(
        deps,
        scopeOf(request, door),
        readId(request.params.id),
        { headers: given, body },
        (steps) => large.work.runSteps(steps),
      )
      return { valid, findings: [...findings] }
    },
  })
}

function addCheck(app: App, checker: ReceiverChecker, door: EndpointDoor): void {
  app.route({
    method: 'POST',
    url: `${door.path}/:id/check`,
    ...forClients({
      operationId: `check${door.name}Receiver`,
      tags: door.tags,
      summary: 'Drive your receiver through a fixed list of callbacks, good and bad',
      description:
        'A dozen POSTs with X-Paybell-Test: true, one after the other, up to the first valid one that is not answered with 200; the answer comes when they are done, within a minute. With `Accept: text/html` it is a page. An endpoint is checked five times in a row, then once a minute; all of a client’s twenty times, then ten times a minute, and two at once.',
      params: IdParams,
      answers: { 200: ReportSchema },
      problems: ['check-running', 'overloaded'],
    }),
    handler: async (request, reply) => {
      const report = await checker.check(scopeOf(request, door), readId(request.params.id))
      if (!wantsPage(request)) return toBody(report)
      return reply
        .headers({
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy':
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        })
        .serializer((page: unknown) => page as string)
        .send(renderReport(report) as never)
    },
  })
}

function toBody(report: CheckReport) {
  return { ...report, counts: { ...report.counts }, steps: [...report.steps] }
}

/** True for a caller that names HTML before JSON, as a browser does. */
function wantsPage(request: FastifyRequest): boolean {
  const accepted = (request.headers.accept ?? '').toLowerCase().split(',')
  const types = accepted.map((entry) => entry.split(';', 1)[0]?.trim())
  const page = types.indexOf('text/html')
  const json = types.indexOf('application/json')
  return page !== -1 && (json === -1 || page < json)
}

/** A body without a Content-Length counts as large. */
function isLarge(request: FastifyRequest): boolean {
  return !(Number(request.headers['content-length']) <= SMALL_BODY_BYTES_MAX)
}

function admit(
  { rate, bytes }: LargeBodies,
  request: FastifyRequest,
  answer: ServerResponse,
): void {
  const { clientId } = callerOf(request)
  const leave = bytes.enter(clientId, bytesToCome(request))
  if (leave === 'client') {
    throw new ServiceError(
      'too-many-requests',
      'Two bodies of the largest size at a time, or more of smaller ones. Wait until one is answered.',
      { retryAfterSeconds: 5 },
    )
  }
  if (leave === 'all') {
    throw new ServiceError('overloaded', 'Too many large bodies are under way. Try again soon.', {
      retryAfterSeconds: 5,
    })
  }
  whenClosed(answer, leave)
  const waitSeconds = rate.takeOrWait(clientId)
  if (waitSeconds > 0) {
    throw new ServiceError('too-many-requests', 'Two large bodies a second. Wait, then go on.', {
      retryAfterSeconds: waitSeconds,
    })
  }
}

/** What a caller says that it sends; without that, or above the limit, as much as is read of any body. */
function bytesToCome({ headers }: FastifyRequest): number {
  const given = Number(headers['content-length'])
  return given <= VERIFY_BODY_BYTES_MAX ? given : VERIFY_BODY_BYTES_MAX
}
