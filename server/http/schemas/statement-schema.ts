// Statements of completeness, as answers show them and as their JWS says it: the two are the same but for `jws`.

import {
  checkStatementPeriod,
  owedIn,
  type StateCounts,
  type StatementHour,
} from '../../core/proofs/statement.ts'
import type { Statement } from '../../operations/proofs/view-statement.ts'
import type { Deps } from '../../operations/shared/deps.ts'
import { Instant, Uuid } from '../basics/scalars.ts'
import { Type } from '../basics/type.ts'
import { invalidQuery } from '../basics/validation.ts'

/** The `typ` of its JWS. */
const STATEMENT_TYP = 'paybell-statement+jws'

const counts = {
  isFinal: Type.Boolean({
    description:
      'True when nothing in it changes any more by itself: only a replay or a recovery that someone asks for opens it again, or a clock that goes back.',
  }),
  owed: Type.Integer({ description: 'All events for this endpoint: the sum of the next five.' }),
  delivered: Type.Integer({ description: 'Answered with 200, once at least.' }),
  superseded: Type.Integer(),
  exhausted: Type.Integer(),
  cancelled: Type.Integer(),
  pending: Type.Integer(),
  idsDigest: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description:
      'The sum, modulo 2^256, of the SHA-256 of the `webhook-id` of every delivered event, in hexadecimal digits.',
  }),
}

export const StatementHourSchema = Type.Object({
  from: Type.String({ format: 'date-time', description: 'The hour begins.' }),
  ...counts,
})

const EMPTY = {
  isFinal: true,
  owed: 0,
  delivered: 0,
  superseded: 0,
  exhausted: 0,
  cancelled: 0,
  pending: 0,
  idsDigest: '0'.repeat(64),
}

export const StatementSchema = Type.Object(
  {
    endpointId: Uuid,
    from: Instant,
    to: Instant,
    ...counts,
    hours: Type.Array(StatementHourSchema, { description: 'Every hour, oldest first.' }),
    jws: Type.String({
      description:
        'All of the above, signed: a compact JWS (EdDSA) of the type `paybell-statement+jws`, under a key of `/.well-known/webhook-keys.json`.',
    }),
  },
  {
    examples: [
      {
        endpointId: '019cade2-1350-7af3-913d-2f16aae956b4',
        from: '2026-03-02T09:00:00.000Z',
        to: '2026-03-02T10:00:00.000Z',
        ...EMPTY,
        hours: [{ from: '2026-03-02T09:00:00.000Z', ...EMPTY }],
        jws: 'eyJhbGciOiJFZERTQSIsInR5cCI6InBheWJlbGwtc3RhdGVtZW50K2p3cyJ9.e30.c2ln',
      },
    ],
  },
)

/** What the JWS of a receipt says. */
export const ReceiptClaims = Type.Object({
  deliveryId: Uuid,
  webhookId: Uuid,
  paymentId: Uuid,
  sequence: Type.Integer(),
  endpointUrl: Type.String(),
  bodySha256: Type.String({ description: 'Of the body, byte for byte, in hexadecimal digits.' }),
  attempt: Type.Integer(),
  sentAt: Instant,
  answeredAt: Instant,
  status: Type.Integer(),
})

/** Whole hours of UTC, also as the clocks of places that are half an hour or three quarters apart from it say it. */
const WHOLE_HOUR_PATTERN =
  ':(00:00(\\.0+)?([Zz]|[+-]\\d\\d:00)|30:00(\\.0+)?[+-]\\d\\d:30|45:00(\\.0+)?\\+\\d\\d:45)$'

export const StatementQuery = Type.Object({
  from: Type.String({
    format: 'date-time',
    published: { pattern: WHOLE_HOUR_PATTERN },
    description: 'The beginning of an hour in UTC. Events count by their own time.',
  }),
  to: Type.String({
    format: 'date-time',
    published: { pattern: WHOLE_HOUR_PATTERN },
    description:
      'The end of an hour, after `from`, at most 31 days after `from`, and at most the end of the hour that is open.',
  }),
})

export function readStatementPeriod(
  query: { from: string; to: string },
  nowMs: number,
): { fromMs: number; toMs: number } {
  const period = { fromMs: Date.parse(query.from), toMs: Date.parse(query.to) }
  const errors = checkStatementPeriod(period, nowMs)
  if (errors.length > 0) throw invalidQuery(errors)
  return period
}

export async function toSignedStatement(
  { webhookKeys }: Pick<Deps, 'webhookKeys'>,
  { endpointId, fromMs, toMs, hours, ...whole }: Statement,
) {
  const body = {
    endpointId,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    ...toCounts(whole),
    hours: hours.map((hour) => ({ from: new Date(hour.fromMs).toISOString(), ...toCounts(hour) })),
  }
  return { ...body, jws: await webhookKeys.signStatement(STATEMENT_TYP, body) }
}

function toCounts(of: StateCounts & Pick<StatementHour, 'isFinal' | 'idsDigest'>) {
  const { isFinal, delivered, superseded, exhausted, cancelled, pending, idsDigest } = of
  const counts = { delivered, superseded, exhausted, cancelled, pending }
  return { isFinal, owed: owedIn(of), ...counts, idsDigest }
}
