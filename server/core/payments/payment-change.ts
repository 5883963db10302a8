// What one write does to a payment (decisions, Payments and events). Pure: the stored payment and
// the clock are handed in, the next stored payment comes out, so writes of one payment can be
// applied each on top of the last. Sequence numbers rise by one with each event; a final state is
// never left.

import { ServiceError } from '../plain/errors.ts'
import {
  type EventKind,
  isFinal,
  MOVES,
  type PaymentState,
  type PaymentStatus,
  type PaymentWrite,
} from './payment.ts'
import { toInstantText, toPaymentText } from './payment-text.ts'

/** All that is remembered of a payment as it is now. */
export interface StoredPayment {
  accountId: string
  /** The number of its latest event. */
  sequence: number
  /** The highest version that the source has given; null as long as it has given none. */
  version: number | null
  /** Canonical (core/payments/payment-text). State, reason and the two instants are read out of it again. */
  text: string
  /** What the text does not show: a write that swaps only the file is a change. */
  documentHash: Uint8Array | null
}

/** `stored` is the payment after the write: the next write of this payment goes on top of it. */
export type Applied =
  | {
      outcome: 'created' | 'changed'
      stored: StoredPayment
      state: PaymentState
      event: { kind: EventKind; sequence: number }
    }
  /** Nothing is to be written, unless the version was raised. */
  | { outcome: 'unchanged'; stored: StoredPayment; versionRaised: boolean; event: null }
  | { outcome: 'stale'; stored: StoredPayment; event: null }

/** Throws `payment-of-another-account` and `forbidden-move`. */
export function applyChange(
  stored: StoredPayment | null,
  accountId: string,
  write: PaymentWrite,
  nowMs: number,
): Applied {
  if (stored === null) return created(accountId, write, nowMs)
  if (stored.accountId !== accountId) {
    throw new ServiceError(
      'payment-of-another-account',
      'A payment with this id belongs to another account.',
    )
  }
  // Before the move is judged: a late copy of an old write is not a mistake of the caller's.
  if (isStale(stored, write)) return { outcome: 'stale', stored, event: null }
  return changed(stored, write, nowMs)
}

function created(accountId: string, write: PaymentWrite, nowMs: number): Applied {
  const status = write.status ?? { state: 'DRAFT', reason: null }
  const createdAt = write.createdAt ?? toInstantText(nowMs)
  const completedAt = completedAtOf(status, null, write, nowMs)
  return {
    outcome: 'created',
    stored: {
      accountId,
      sequence: 1,
      version: write.version,
      text: toPaymentText({ ...write, status, createdAt, completedAt }),
      documentHash: write.document?.file.hash ?? null,
    },
    state: status.state,
    event: { kind: 'payment.created', sequence: 1 },
  }
}

const KIND_ON_ENTERING: Readonly<Record<PaymentState, EventKind>> = {
  DRAFT: 'payment.updated',
  PENDING_APPROVAL: 'payment.pending_approval',
  DUE: 'payment.due',
  PAID: 'payment.paid',
  CANCELLED: 'payment.cancelled',
}

function changed(stored: StoredPayment, write: PaymentWrite, nowMs: number): Applied {
  const before = readBack(stored.text)
  const status = write.status ?? before.status
  const from = before.status.state
  const to = status.state
  if (from !== to && !MOVES[from].includes(to)) {
    throw new ServiceError('forbidden-move', `A payment cannot go from ${from} to ${to}.`)
  }

  const createdAt = before.createdAt
  const completedAt = completedAtOf(status, before.completedAt, write, nowMs)
  const text = toPaymentText({ ...write, status, createdAt, completedAt })
  const documentHash = write.document?.file.hash ?? null
  const version = write.version ?? stored.version
  if (text === stored.text && isSameHash(documentHash, stored.documentHash)) {
    const versionRaised = version !== stored.version
    return { outcome: 'unchanged', stored: { ...stored, version }, versionRaised, event: null }
  }

  const sequence = stored.sequence + 1
  return {
    outcome: 'changed',
    stored: { accountId: stored.accountId, sequence, version, text, documentHash },
    state: to,
    event: { kind: from === to ? 'payment.updated' : KIND_ON_ENTERING[to], sequence },
  }
}

/** A write without a version cannot be late; nor can the first one that has one. */
function isStale(stored: StoredPayment, write: PaymentWrite): boolean {
  return write.version !== null && stored.version !== null && write.version <= stored.version
}

/** Set once, on entering a final state; elsewhere there is none, whatever the write says. */
function completedAtOf(
  status: PaymentStatus,
  before: string | null,
  write: PaymentWrite,
  nowMs: number,
): string | null {
  if (!isFinal(status.state)) return null
  return before ?? write.completedAt ?? toInstantText(nowMs)
}

interface ReadBack {
  status: PaymentStatus
  createdAt: string
  completedAt: string | null
}

/** What a write may leave as it was. Our own text: it needs no check, and its amount no digits. */
function readBack(text: string): ReadBack {
  const { status, createdAt, completedAt = null } = JSON.parse(text)
  return { status: { state: status.state, reason: status.reason ?? null }, createdAt, completedAt }
}

function isSameHash(one: Uint8Array | null, other: Uint8Array | null): boolean {
  if (one === null || other === null) return one === other
  return Buffer.compare(one, other) === 0
}
