// The payment that is being made: what the form holds, and the text that is written. The amount goes out
// as it was typed, digit for digit.

import { api } from '../../api/client.ts'
import type {
  CursorPage,
  DocumentWithFile,
  Payment,
  PaymentEvent,
  PaymentState,
  WrittenPayment,
} from '../../api/types.ts'

export interface Draft {
  externalId: string
  amount: string
  currency: string
  reference: string
  purposeOfPayment: string
  documentReference: string
  quoteId: string
  beneficiaryId: string
  document: DocumentWithFile | null
}

export const MOVES: Readonly<Record<PaymentState, readonly PaymentState[]>> = {
  DRAFT: ['PENDING_APPROVAL', 'DUE', 'CANCELLED'],
  PENDING_APPROVAL: ['DUE', 'DRAFT', 'CANCELLED'],
  DUE: ['PAID', 'CANCELLED'],
  PAID: [],
  CANCELLED: [],
}

/** The states still ahead on the way to PAID. */
export function wayToPaid(state: PaymentState | null): readonly PaymentState[] {
  const way: readonly PaymentState[] = ['DRAFT', 'PENDING_APPROVAL', 'DUE', 'PAID']
  return state === 'CANCELLED' ? [] : way.slice(way.indexOf(state as PaymentState) + 1)
}

/** JSON's own grammar, without a sign: what the interface takes. */
const AMOUNT = /^(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

export function isAmount(text: string): boolean {
  return AMOUNT.test(text) && text.length <= 40
}

export function newDraft(): Draft {
  return {
    externalId: `PLAY-${Date.now().toString(36).toUpperCase().slice(-6)}`,
    amount: '1250.50',
    currency: 'EUR',
    reference: 'Invoice 42',
    purposeOfPayment: 'COMPUTER_SERVICES',
    documentReference: '',
    quoteId: crypto.randomUUID(),
    beneficiaryId: crypto.randomUUID(),
    document: null,
  }
}

/** The form of a payment that was made earlier; its file is fetched when it is needed. */
export function toDraft(payment: Payment): Draft {
  return {
    externalId: payment.externalId,
    amount: payment.amount.amount,
    currency: payment.amount.currency,
    reference: payment.reference,
    purposeOfPayment: payment.purposeOfPayment,
    documentReference: payment.documentReference ?? '',
    quoteId: payment.quoteId,
    beneficiaryId: payment.beneficiaryId,
    document: payment.document ? { ...payment.document, base64EncodedFile: '' } : null,
  }
}

export async function writePayment(
  id: string,
  accountId: string,
  draft: Draft,
  state: PaymentState,
): Promise<Payment> {
  const { amount, currency, document, documentReference, ...rest } = draft
  const file = document?.base64EncodedFile === '' ? await readDocument(id) : document
  const text = JSON.stringify({
    ...rest,
    status: { state },
    ...(documentReference === '' ? {} : { documentReference }),
    ...(file ? { document: file } : {}),
  })
  const exact = `{"amount":{"amount":${amount},"currency":${JSON.stringify(currency)}},`
  const answer = await api.put<WrittenPayment>(
    `/operator/v1/payments/${id}`,
    exact + text.slice(1),
    { accountId },
  )
  return answer.payment
}

/** A write is the whole payment: its document is sent again with each. */
async function readDocument(paymentId: string): Promise<DocumentWithFile | null> {
  const { items } = await api.get<CursorPage<PaymentEvent>>(
    `/operator/v1/payments/${paymentId}/events?limit=1`,
  )
  if (items[0] === undefined) return null
  const body = await api.get<{ document?: DocumentWithFile }>(
    `/operator/v1/events/${items[0].id}/body`,
  )
  return body.document ?? null
}

export async function toDocument(file: File): Promise<DocumentWithFile> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
  return {
    mediaType: file.type === '' ? 'application/octet-stream' : file.type,
    name: file.name,
    base64EncodedFile: url.slice(url.indexOf(',') + 1),
  }
}
