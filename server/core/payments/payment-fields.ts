// A write of the operator's side, field by field: what comes out conforms in every field, and what
// does not conform is refused with all its wrong fields at once, unknown ones too, except in messages of a broker, which
// no caller waits for. Null counts as left out, because many systems write it for what they do not have.

import { type FieldError, ServiceError } from '../plain/errors.ts'
import { countInvalid } from '../plain/invalid-count.ts'
import { checkNames, type KnownNames } from '../plain/spelling.ts'
import { isUuid } from '../plain/uuid.ts'
import {
  type Money,
  PAYMENT_STATES,
  type PaymentDocument,
  type PaymentStatus,
  type PaymentWrite,
  PURPOSES,
  TEXT_CHARACTERS_MAX,
} from './payment.ts'
import {
  boolean,
  type Check,
  currency,
  dateTime,
  decimal,
  Fault,
  file,
  type Members,
  mediaType,
  members,
  oneOf,
  sameAccount,
  sameUuid,
  text,
  uuid,
  version,
} from './payment-checks.ts'

const state = oneOf(PAYMENT_STATES)
const purpose = oneOf(PURPOSES)
// A required text says something; an optional one that is there may be empty.
const requiredText = text(1, TEXT_CHARACTERS_MAX)
const optionalText = text(0, TEXT_CHARACTERS_MAX)

/** `pathId` is the uuid in the path, where there is one: then the body need not repeat it. */
export function parsePayment(
  value: unknown,
  amountText: string | undefined,
  pathId?: string,
): PaymentWrite {
  const fields = new Fields()
  const body = fields.members('', fields.required('', value, members), PAYMENT_NAMES)
  return fields.conforming(body && readPayment(fields, body, amountText, pathId))
}

/** One line of a batch: the account is named beside the payment's own fields. So does a record of a broker, which may
 *  have members that are not known. */
export function parsePaymentLine(
  value: unknown,
  amountText: string | undefined,
  refusesUnknown = true,
): { accountId: string; write: PaymentWrite } {
  const fields = new Fields(refusesUnknown)
  const line = fields.members('', fields.required('', value, members), LINE_NAMES)
  return fields.conforming(
    line && {
      accountId: fields.required('/accountId', line.accountId, uuid),
      write: readPayment(fields, line, amountText, undefined),
    },
  )
}

/** One message of a broker: its subject names the account, which the message may repeat. */
export function parsePaymentOf(
  accountId: string,
  value: unknown,
  amountText: string | undefined,
): PaymentWrite {
  const fields = new Fields(false)
  const message = fields.required('', value, members)
  if (message) fields.optional('/accountId', message.accountId, sameAccount(accountId))
  return fields.conforming(message && readPayment(fields, message, amountText, undefined))
}

/** The id to name in the answer to a line that is otherwise wrong; null where it cannot be read. */
export function readPaymentId(value: unknown): string | null {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null
  return typeof id === 'string' && isUuid(id) ? id.toLowerCase() : null
}

const named = (...names: string[]) => ({ known: new Set(names), isTolerant: false })

const PAYMENT_NAMES = named(
  'id',
  'status',
  'complete',
  'createdAt',
  'completedAt',
  'externalId',
  'quoteId',
  'amount',
  'reference',
  'purposeOfPayment',
  'beneficiaryId',
  'documentReference',
  'document',
  'version',
)
const LINE_NAMES = named('accountId', ...PAYMENT_NAMES.known)
const STATUS_NAMES = named('state', 'reason')
const MONEY_NAMES = named('amount', 'currency')
const DOCUMENT_NAMES = named('mediaType', 'name', 'base64EncodedFile')

function readPayment(
  fields: Fields,
  body: Members,
  amountText: string | undefined,
  pathId: string | undefined,
): PaymentWrite {
  // Derived from the state, whatever is said here; but a wrong type is a mistake worth reporting.
  fields.optional('/complete', body.complete, boolean)
  return {
    id: readId(fields, body.id, pathId),
    status: readStatus(fields, fields.optional('/status', body.status, members)),
    createdAt: fields.optional('/createdAt', body.createdAt, dateTime),
    completedAt: fields.optional('/completedAt', body.completedAt, dateTime),
    externalId: fields.required('/externalId', body.externalId, requiredText),
    quoteId: fields.required('/quoteId', body.quoteId, uuid),
    amount: readMoney(fields, fields.required('/amount', body.amount, members), amountText),
    reference: fields.required('/reference', body.reference, requiredText),
    purposeOfPayment: fields.required('/purposeOfPayment', body.purposeOfPayment, purpose),
    beneficiaryId: fields.required('/beneficiaryId', body.beneficiaryId, uuid),
    documentReference: fields.optional('/documentReference', body.documentReference, optionalText),
    document: readDocument(fields, fields.optional('/document', body.document, members)),
    version: fields.optional('/version', body.version, version),
  }
}

function readId(fields: Fields, value: unknown, pathId: string | undefined): string {
  if (pathId === undefined) return fields.required('/id', value, uuid)
  const id = pathId.toLowerCase()
  fields.optional('/id', value, sameUuid(id))
  return id
}

function readStatus(fields: Fields, status: Members | null): PaymentStatus | null {
  fields.members('/status', status, STATUS_NAMES)
  return (
    status && {
      state: fields.required('/status/state', status.state, state),
      reason: fields.optional('/status/reason', status.reason, optionalText),
    }
  )
}

function readMoney(fields: Fields, money: Members, amountText: string | undefined): Money {
  fields.members('/amount', money, MONEY_NAMES)
  return (
    money && {
      amount: fields.required('/amount/amount', money.amount, decimal(amountText)),
      currency: fields.required('/amount/currency', money.currency, currency),
    }
  )
}

function readDocument(fields: Fields, document: Members | null): PaymentDocument | null {
  fields.members('/document', document, DOCUMENT_NAMES)
  return (
    document && {
      mediaType: fields.required('/document/mediaType', document.mediaType, mediaType),
      name: fields.required('/document/name', document.name, requiredText),
      file: fields.required('/document/base64EncodedFile', document.base64EncodedFile, file),
    }
  )
}

const MISSING = new Fault('missing', 'This field is required.')

/** Gathers the wrong fields. What it returns for one is undefined, and never used: `conforming` throws first. */
class Fields {
  readonly #errors: FieldError[] = []
  readonly #refusesUnknown: boolean

  constructor(refusesUnknown = true) {
    this.#refusesUnknown = refusesUnknown
  }

  /** What was given, with its unknown members noted. Runs thousands of times a second, and finds none. */
  members<M extends Members | null>(pointer: string, given: M, names: KnownNames): M {
    if (!this.#refusesUnknown) return given
    for (const name in given) {
      if (names.known.has(name)) continue
      this.#errors.push(...checkNames(Object.keys(given as Members), names, pointer))
      break
    }
    return given
  }

  required<T>(pointer: string, value: unknown, check: Check<T>): T {
    return this.#kept(pointer, value === undefined || value === null ? MISSING : check(value))
  }

  optional<T>(pointer: string, value: unknown, check: Check<T>): T | null {
    return value === undefined || value === null ? null : this.#kept(pointer, check(value))
  }

  conforming<T>(read: T): T {
    if (this.#errors.length === 0) return read
    const detail = countInvalid(this.#errors.length, 'field')
    throw new ServiceError('invalid-fields', detail, { errors: this.#errors })
  }

  #kept<T>(pointer: string, checked: T | Fault): T {
    if (!(checked instanceof Fault)) return checked
    this.#errors.push({ pointer, code: checked.code, detail: checked.detail })
    return undefined as T
  }
}
