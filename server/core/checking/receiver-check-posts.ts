// What the posts of a receiver check are made of: payments that were never made, signed as callbacks are.

import type { KeyObject } from 'node:crypto'
import { callbackBodyParts } from '../delivery/callback.ts'
import type { PaymentState } from '../payments/payment.ts'
import { toInstantText, toPaymentText } from '../payments/payment-text.ts'
import {
  type AsymmetricSignature,
  type SigningPair,
  signAsymmetricNow,
  signedContent,
} from '../signatures/asymmetric-signature.ts'
import {
  callbackHeaders,
  HMAC_HEADER,
  type SigningKeys,
  traceparentOf,
} from '../signatures/callback-headers.ts'

/** A POST of the list. Between the parts of its body there may be pauses. */
export interface CheckPost {
  eventId: string
  kind: string
  attempt: number
  headers: readonly string[]
  body: readonly Uint8Array[]
  pauseMs: number
}

/** What posts are made of. */
export interface CheckMaterial {
  keys: SigningKeys
  /** A key that the receiver does not have. */
  strangeKey: KeyObject
  extraHeader: readonly [string, string] | null
  /** The service's own keys, where the endpoint asks for their signature. */
  signers?: readonly SigningPair[]
  /** The event that they sign, if not the one that is sent: a signature that must not be taken. */
  signedEventId?: string
  /** The header that carries the HMAC, where the endpoint has chosen one. */
  hmacHeaderName?: string | undefined
  nowMs: number
  newId(): string
}

export interface MadeEvent {
  eventId: string
  sequence: number
  attempt: number
  text: string
  file: Uint8Array | null
}

interface EventOptions {
  paymentId?: string
  sequence?: number
  state?: PaymentState
  reference?: string
  documentBytes?: number
}

export function makeEvent(material: CheckMaterial, options: EventOptions = {}): MadeEvent {
  const { documentBytes, state = 'DUE' } = options
  const file =
    documentBytes === undefined
      ? null
      : Buffer.from(Buffer.alloc(documentBytes, 'paybell check ').toString('base64'), 'latin1')
  const text = toPaymentText({
    id: options.paymentId ?? material.newId(),
    status: { state, reason: 'receiver check' },
    createdAt: toInstantText(material.nowMs),
    completedAt: state === 'PAID' ? toInstantText(material.nowMs) : null,
    externalId: 'PAYBELL-CHECK',
    quoteId: material.newId(),
    amount: { amount: '100.00', currency: 'EUR' },
    reference: options.reference ?? 'Receiver check',
    purposeOfPayment: 'OTHER',
    beneficiaryId: material.newId(),
    documentReference: null,
    document:
      file === null
        ? null
        : {
            mediaType: 'application/pdf',
            name: 'receipt.pdf',
            file: { base64: file, hash: new Uint8Array(0), sizeBytes: documentBytes ?? 0 },
          },
  })
  const sequence = options.sequence ?? 1
  return { eventId: material.newId(), sequence, attempt: 1, text, file }
}

export function makePost(material: CheckMaterial, made: MadeEvent): CheckPost {
  const body = callbackBodyParts(made.text, made.file)
  const { eventId, attempt } = made
  const kind = made.sequence === 1 ? 'payment.created' : 'payment.paid'
  const headers = callbackHeaders(
    {
      eventId,
      kind,
      sequence: made.sequence,
      attempt,
      atMs: material.nowMs,
      mark: 'test',
      traceparent: traceparentOf(eventId, eventId),
      extraHeader: material.extraHeader,
      hmacHeaderName: material.hmacHeaderName ?? HMAC_HEADER,
    },
    material.keys,
    body,
    signByService(material, eventId, body),
  )
  return { eventId, kind, attempt, headers, body, pauseMs: 0 }
}

function signByService(
  { signers = [], signedEventId, nowMs }: CheckMaterial,
  eventId: string,
  body: readonly Uint8Array[],
): AsymmetricSignature | null {
  if (signers.length === 0) return null
  const content = signedContent(signedEventId ?? eventId, Math.floor(nowMs / 1_000), body)
  return signAsymmetricNow(signers, content)
}

export function withoutSignatures(
  headers: readonly string[],
  hmacHeaderName = HMAC_HEADER,
): string[] {
  const signing = new Set([
    hmacHeaderName.toLowerCase(),
    `${HMAC_HEADER}-Previous`.toLowerCase(),
    'webhook-signature',
  ])
  const kept: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = [headers[at] as string, headers[at + 1] as string]
    if (!signing.has(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

export function inParts(body: readonly Uint8Array[], count: number): Uint8Array[] {
  const whole = Buffer.concat(body)
  const size = Math.ceil(whole.length / count)
  return Array.from({ length: count }, (_, at) => whole.subarray(at * size, (at + 1) * size))
}
