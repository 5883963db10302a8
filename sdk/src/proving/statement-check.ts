// What a statement has to be before anything is concluded from it: signed by a trusted key, about the endpoint and the
// window that were asked for, one row for each hour in order, and the rows add up to the whole. The JSON around the
// signature proves nothing, so none of it is read.

import { PaybellError } from '../plain/errors.ts'
import { addDigests, type Window } from '../plain/ids-digest.ts'
import type { Statement, StatementHour } from '../wire/types.ts'
import { type KeySet, verifyStatement } from './signed.ts'

/** What is signed. */
export type SignedStatement = Omit<Statement, 'jws'>
type Counts = Omit<StatementHour, 'from'>

const HOUR_MS = 3_600_000
const NO_IDS = '0'.repeat(64)
const FATES = ['delivered', 'superseded', 'exhausted', 'cancelled', 'pending'] as const

/** Throws a `PaybellError`: `not-genuine` for the signature, `statement-invalid` for what is signed. */
export async function readStatement(
  jws: string,
  keys: KeySet,
  wanted: { endpointId: string; window: Window },
): Promise<SignedStatement> {
  const statement = await verifyStatement(jws, keys)
  const fault = faultOf(statement, wanted.endpointId, wanted.window)
  if (fault === null) return statement
  throw new PaybellError(`The statement proves nothing. ${fault}`, { code: 'statement-invalid' })
}

function faultOf(statement: SignedStatement, endpointId: string, window: Window): string | null {
  if (typeof statement !== 'object' || statement === null) return 'It is not an object.'
  const { hours } = statement
  if (String(statement.endpointId).toLowerCase() !== endpointId.toLowerCase()) {
    return 'It is about another endpoint.'
  }
  const [fromMs, toMs] = [toMsOf(window.from), toMsOf(window.to)]
  if (toMsOf(statement.from) !== fromMs || toMsOf(statement.to) !== toMs) {
    return 'It is about another period.'
  }
  if (!Array.isArray(hours) || hours.length !== (toMs - fromMs) / HOUR_MS) {
    return 'It does not have one row for each hour.'
  }
  const at = hours.findIndex((hour, index) => toMsOf(hour?.from) !== fromMs + index * HOUR_MS)
  if (at >= 0) return `Row ${at + 1} is not that of its hour.`
  const wrong = hours.find((hour) => !isCounted(hour))
  if (wrong !== undefined) return `The counts of the hour from ${wrong.from} cannot be right.`
  return isCounted(statement) && isSumOf(statement, hours) ? null : 'The hours do not add up to it.'
}

/** NaN, which equals nothing, for what is no instant. */
function toMsOf(instant: unknown): number {
  return instant instanceof Date ? instant.getTime() : Date.parse(String(instant))
}

function isCounted(of: Counts): boolean {
  const counts = [of.owed, ...FATES.map((fate) => of[fate])]
  if (!counts.every((count) => Number.isSafeInteger(count) && count >= 0)) return false
  if (of.owed !== FATES.reduce((sum, fate) => sum + of[fate], 0)) return false
  if (!/^[0-9a-f]{64}$/.test(of.idsDigest)) return false
  if (of.delivered === 0 && of.idsDigest !== NO_IDS) return false
  return typeof of.isFinal === 'boolean' && !(of.isFinal && of.pending > 0)
}

function isSumOf(whole: Counts, hours: readonly StatementHour[]): boolean {
  const isSame = FATES.every((fate) => {
    return whole[fate] === hours.reduce((sum, hour) => sum + hour[fate], 0)
  })
  const digest = hours.reduce((sum, { idsDigest }) => addDigests(sum, idsDigest), NO_IDS)
  return (
    isSame && whole.idsDigest === digest && whole.isFinal === hours.every(({ isFinal }) => isFinal)
  )
}
