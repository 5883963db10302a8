// The seals of the audit: its head, an export with the segments in line, and a check of what the database holds.

import { Readable } from 'node:stream'
import {
  type Finding,
  VERDICTS,
  type Verdict,
  verdictOf,
} from '../../../core/proofs/audit-finding.ts'
import { verifyAudit } from '../../../operations/proofs/verify-audit.ts'
import { exportAudit, viewSealHead } from '../../../operations/proofs/view-audit-seal.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { auditOf, noteAuditorRead } from '../../answers/audit.ts'
import { readPeriod } from '../../basics/period.ts'
import { Instant, InstantOrNull, IntegerOrNull, TextOrNull } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { answer, forOperators } from '../../schemas/calls.ts'

const NDJSON_TYPE = 'application/x-ndjson'

const Position = Type.String({ description: 'A position in the order of commit, in digits.' })
const Sha256 = Type.String({ description: 'SHA-256 in hex.', pattern: '^[0-9a-f]{64}$' })

const SEGMENT = {
  segment: Type.Integer({ description: '1, 2, 3 …' }),
  from: Position,
  to: Position,
  count: Type.Integer({ description: 'How many rows it has.' }),
  digest: Sha256,
  previous: Type.String({ description: 'The digest of the segment before; zeros in the first.' }),
  sealedAt: Instant,
  jws: Type.String({ description: 'Compact JWS (EdDSA) of the members above.' }),
}

export const FindingSchema = Type.Object({
  code: Type.String(),
  segment: Type.Integer(),
  row: TextOrNull(),
  detail: Type.String(),
})

const VerdictSchema = Type.Unsafe<Verdict>({
  type: 'string',
  enum: [...VERDICTS],
  description:
    '`valid`: every row of every segment is as it was sealed. `partial`: all that is there is, and the rest was dropped by retention, under a drop that the service has signed. `invalid`: see `finding`.',
})

export const SealHeadSchema = Type.Object(
  {
    ...SEGMENT,
    sealedThrough: InstantOrNull(),
    verification: Type.Unsafe<{
      at: string
      from: number
      to: number
      verdict: Verdict
      finding: Finding | null
    } | null>({
      type: ['object', 'null'],
      description: 'The last check that an operator has asked for.',
      properties: {
        at: { type: 'string', format: 'date-time' },
        from: { type: 'integer', description: 'The first segment that was checked.' },
        to: { type: 'integer', description: 'The last one.' },
        verdict: VerdictSchema,
        finding: { anyOf: [FindingSchema, { type: 'null' }] },
      },
    }),
  },
  {
    examples: [
      {
        segment: 1041,
        from: '88412',
        to: '88467',
        count: 3,
        digest: '6990777c822d21d78c253cc0ed2bf83bb5ba6fceb61e8829f60887e7bb3e4ca1',
        previous: '1f5d0d0f7d1f4b0c0d1d0a3b6b0f3f7e1c9a2b8d4e6f7a8b9c0d1e2f3a4b5c6d',
        sealedAt: '2026-11-15T03:25:00.120Z',
        jws: 'eyJhbGciOiJFZERTQSIs…',
        sealedThrough: '2026-11-15T03:25:00.120Z',
        verification: null,
      },
    ],
  },
)

export const VerifiedAuditSchema = Type.Object({
  verdict: VerdictSchema,
  valid: Type.Boolean({
    description:
      'The verdict is `valid`: all rows of what was looked at in this call are as they were sealed.',
  }),
  finding: Type.Unsafe<Finding | null>({ anyOf: [FindingSchema, { type: 'null' }] }),
  rows: Type.Integer({ description: 'Rows that were held against a signed digest in this call.' }),
  segments: Type.Integer(),
  dropped: Type.Array(Type.Object({ from: Type.Integer(), to: Type.Integer() }), {
    description:
      'Segments, the first and the last of each span, whose rows were dropped, wholly or in part.',
  }),
  remarks: Type.Array(Type.String(), {
    description:
      'What is no finding, but should be known, such as times of a clock that was wrong.',
  }),
  last: IntegerOrNull(),
  next: IntegerOrNull('Send it as `after` to go on; null: the head was reached.'),
})

export const SealedSegmentSchema = Type.Object(SEGMENT, {
  description:
    'A segment, after the lines of its rows. A row is as in `GET /audit`, and has its position.',
})

export function operatorAuditSealRoutes(deps: Deps): Routes {
  return (app) => {
    app.route({
      method: 'GET',
      url: '/audit/head',
      ...forOperators('auditor', {
        operationId: 'getAuditHead',
        summary: 'Get the newest seal of the audit',
        description:
          'Keep it elsewhere: whatever is cut off or rewritten later no longer leads to it. 404 until the first seal, a minute after the first entry.',
        answers: {
          200: answer('The newest segment, and the last check of the audit.', SealHeadSchema),
        },
        problems: ['not-found'],
      }),
      handler: async (request) => {
        await noteAuditorRead(deps, request, 'audit.head')
        const { head, sealedThrough, verification } = await viewSealHead(deps)
        return {
          ...head,
          sealedThrough: sealedThrough?.toISOString() ?? null,
          verification: verification && {
            at: verification.at.toISOString(),
            from: verification.from,
            to: verification.to,
            verdict: verification.verdict,
            finding: verification.finding === null ? null : JSON.parse(verification.finding),
          },
        }
      },
    })

    app.route({
      method: 'GET',
      url: '/audit/export',
      ...forOperators('auditor', {
        operationId: 'exportAudit',
        summary: 'Export the audit with its seals',
        description:
          'NDJSON: the rows of a segment in the order of commit, then the segment; a line `{"drop": …}`, signed, before segments whose rows retention has dropped. Whole segments, from the first that was sealed at `from` or later to the first that was sealed at `to` or later; without them, everything that is sealed. `paybell audit verify` checks the file.',
        querystring: Type.Object({ from: Type.Optional(Instant), to: Type.Optional(Instant) }),
        answers: {
          200: Type.Unsafe<unknown>({
            description: 'One line for each row, and one for each segment.',
            content: { [NDJSON_TYPE]: { schema: SealedSegmentSchema } },
          }),
        },
      }),
      handler: async (request, reply) => {
        const { fromMs, toMs } = readPeriod(request.query)
        await noteAuditorRead(deps, request, 'audit.export')
        const lines = exportAudit(deps, { from: toDate(fromMs), to: toDate(toMs) })
        // Before the status is sent: a database that is away is a 503.
        const first = await lines.next()
        async function* all() {
          if (!first.done) yield first.value
          yield* lines
        }
        return reply
          .type(NDJSON_TYPE)
          .header('content-disposition', 'attachment; filename="audit.ndjson"')
          .send(Readable.from(all(), { objectMode: false }))
      },
    })

    app.route({
      method: 'POST',
      url: '/audit/verify',
      ...forOperators('admin', {
        operationId: 'verifyAudit',
        summary: 'Recompute the audit in the database',
        description:
          'Names the first row that was changed, added or removed since it was sealed, and the segments whose rows were dropped. About 100,000 rows a call: send `next` as `after` until it is null. The service checks itself here, with the keys of its own database; `paybell audit verify` with keys and a head that you keep elsewhere proves more.',
        body: Type.Object(
          { after: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000_000 })) },
          { examples: [{ after: 0 }] },
        ),
        answers: {
          200: answer(
            'What was looked at, and the first thing that is wrong.',
            VerifiedAuditSchema,
          ),
        },
      }),
      handler: async (request) => {
        const audit = auditOf(deps, request, 'audit.verify')
        const portion = await verifyAudit(deps, request.body.after ?? 0, audit)
        const { finding, checked, next } = portion
        const { rows, segments, dropped, remarks, last } = checked
        const verdict = verdictOf(portion)
        const counts = { rows, segments, dropped: [...dropped], remarks: [...remarks], last, next }
        return { verdict, valid: verdict === 'valid', finding, ...counts }
      },
    })
  }
}

function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}
