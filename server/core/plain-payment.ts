// The quick way to read a payment. Nearly every one is written plainly: ASCII, members that are known,
// no escapes, no document. One walk over the bytes then does what decoding, JSON.parse, the scan for the
// amount's digits (core/exact-json) and the walk over the members do otherwise. Whatever is not plain,
// and whatever is wrong, is null here and goes the general way (core/payment-fields), which alone
// refuses: a payment that is read here is the one that would have been read there.

import type { PaymentWrite } from './payment.ts'
import { currency, dateTime, Fault } from './payment-checks.ts'
import { purpose, state } from './payment-fields.ts'
import { CLOSE_OBJECT, COLON, COMMA, OPEN_OBJECT, PlainScan } from './plain-scan.ts'

/** Some ten times a usual payment: what is longer has texts at their limits, or is none. */
const PLAIN_BYTES_MAX = 8 * 1_024
/** There are 14 names. Whoever repeats them is judged elsewhere: exact-json limits the values. */
const MEMBERS_MAX = 20

/** `pathId` in lower case: the body may leave the id out, or repeat it. */
export function readPlainPayment(bytes: Uint8Array, pathId: string): PaymentWrite | null {
  const members = scanMembers(bytes)
  // Beside a path, an account is no member that is known.
  if (members === null || members.accountId !== null) return null
  const id = members.id ?? pathId
  return id === pathId ? toWrite(members, id) : null
}

/** One line of a batch: the account is named beside the payment's own fields. */
export function readPlainLine(
  bytes: Uint8Array,
): { accountId: string; write: PaymentWrite } | null {
  const members = scanMembers(bytes)
  if (members === null) return null
  const { accountId, id } = members
  if (accountId === null || id === null) return null
  const write = toWrite(members, id)
  return write && { accountId, write }
}

/** The values as they are written; null for what is not there, or is null. */
class Members {
  id: string | null = null
  accountId: string | null = null
  state: string | null = null
  reason: string | null = null
  hasStatus = false
  createdAt: string | null = null
  completedAt: string | null = null
  externalId: string | null = null
  quoteId: string | null = null
  amount: string | null = null
  currency: string | null = null
  reference: string | null = null
  purposeOfPayment: string | null = null
  beneficiaryId: string | null = null
  documentReference: string | null = null
  version: string | null = null
}

/** Uuids and texts were checked byte by byte; the rest by the same checks as on the general way. */
function toWrite(members: Members, id: string): PaymentWrite | null {
  const { externalId, quoteId, amount, reference, beneficiaryId, documentReference } = members
  const status = members.hasStatus ? toStatus(members) : null
  const createdAt = members.createdAt === null ? null : dateTime(members.createdAt)
  const completedAt = members.completedAt === null ? null : dateTime(members.completedAt)
  const code = currency(members.currency)
  const purposeOfPayment = purpose(members.purposeOfPayment)
  if (!externalId || quoteId === null || amount === null || !reference || beneficiaryId === null) {
    return null
  }
  if (
    status instanceof Fault ||
    createdAt instanceof Fault ||
    completedAt instanceof Fault ||
    code instanceof Fault ||
    purposeOfPayment instanceof Fault
  ) {
    return null
  }
  return {
    id,
    status,
    createdAt,
    completedAt,
    externalId,
    quoteId,
    amount: { amount, currency: code },
    reference,
    purposeOfPayment,
    beneficiaryId,
    documentReference,
    document: null,
    version: members.version === null ? null : Number(members.version),
  }
}

function toStatus(members: Members): PaymentWrite['status'] | Fault {
  const known = state(members.state)
  return known instanceof Fault ? known : { state: known, reason: members.reason }
}

function scanMembers(bytes: Uint8Array): Members | null {
  if (bytes.length > PLAIN_BYTES_MAX) return null
  const scan = new PlainScan(bytes)
  const members = new Members()
  readObject(scan, members, readMember)
  return scan.isAtEnd() ? members : null
}

type ReadMember = (scan: PlainScan, members: Members, name: string | undefined) => void

function readObject(scan: PlainScan, members: Members, read: ReadMember): void {
  if (scan.pass(OPEN_OBJECT)) {
    if (scan.pass(CLOSE_OBJECT)) return
    for (let count = 0; count < MEMBERS_MAX; count++) {
      const name = scan.name()
      if (!scan.pass(COLON)) break
      read(scan, members, name)
      if (scan.pass(CLOSE_OBJECT)) return
      if (!scan.pass(COMMA)) break
    }
  }
  scan.giveUp()
}

/** Of members with one name the last wins, as in JSON.parse. */
function readMember(scan: PlainScan, members: Members, name: string | undefined): void {
  switch (name) {
    case 'id':
      members.id = scan.uuid(true)
      break
    case 'accountId':
      members.accountId = scan.uuid()
      break
    case 'status':
      members.state = null
      members.reason = null
      members.hasStatus = !scan.passNull()
      if (members.hasStatus) readObject(scan, members, readStatusMember)
      break
    case 'complete':
      // What it says is derived from the state; only its type is looked at.
      scan.passBoolean()
      break
    case 'createdAt':
      members.createdAt = scan.text()
      break
    case 'completedAt':
      members.completedAt = scan.text()
      break
    case 'externalId':
      members.externalId = scan.text()
      break
    case 'quoteId':
      members.quoteId = scan.uuid()
      break
    case 'amount':
      members.amount = null
      members.currency = null
      readObject(scan, members, readMoneyMember)
      break
    case 'reference':
      members.reference = scan.text()
      break
    case 'purposeOfPayment':
      members.purposeOfPayment = scan.text()
      break
    case 'beneficiaryId':
      members.beneficiaryId = scan.uuid()
      break
    case 'documentReference':
      members.documentReference = scan.text()
      break
    case 'version':
      members.version = scan.digits()
      break
    default:
      scan.giveUp()
  }
}

function readStatusMember(scan: PlainScan, members: Members, name: string | undefined): void {
  if (name === 'state') members.state = scan.text()
  else if (name === 'reason') members.reason = scan.text()
  else scan.giveUp()
}

function readMoneyMember(scan: PlainScan, members: Members, name: string | undefined): void {
  if (name === 'amount') members.amount = scan.decimal()
  else if (name === 'currency') members.currency = scan.text()
  else scan.giveUp()
}
