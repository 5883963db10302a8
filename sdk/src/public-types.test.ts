// The names that integrators import, and what they rely on in them. It is the compiler that fails here: a
// name that goes, or a member that changes its type, is a break for them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  CheckReport,
  CursorPage,
  Delivery,
  DeliveryAttempt,
  DeliveryDetail,
  DeliveryState,
  Diagnosis,
  Endpoint,
  EndpointDetail,
  EndpointHealth,
  EndpointStatus,
  EventKind,
  EventPage,
  Listener,
  ListenerOffer,
  ListenerOutcome,
  Money,
  Page,
  Payment,
  PaymentDocument,
  PaymentEvent,
  PaymentState,
  Problem,
  PurposeOfPayment,
  ReplayedDelivery,
  TestResult,
  Webhook,
} from './index.ts'

/** Compiles only if every `Actual` can be used where `Wanted` is asked for. */
type Uses<Actual extends Wanted, Wanted> = Actual

type Relied = [
  Uses<Payment, { id: string; amount: Money; document?: PaymentDocument; complete?: boolean }>,
  Uses<Money, { amount: string; currency: string }>,
  Uses<PaymentDocument, { mediaType: string; name: string; base64EncodedFile?: string }>,
  Uses<NonNullable<Payment['status']>, { state: PaymentState; reason?: string }>,
  Uses<Payment['purposeOfPayment'], PurposeOfPayment>,
  Uses<'payment.paid', EventKind>,
  Uses<Endpoint, { id: string; endpointUrl: string; algorithm: 'SHA_256'; status: EndpointStatus }>,
  Uses<EndpointDetail, Endpoint & { health: EndpointHealth }>,
  Uses<Webhook, Endpoint & { accountId?: string }>,
  Uses<Listener, { id: string; name: string; accountId: string; status: EndpointStatus }>,
  Uses<ListenerOffer['headers'], [name: string, value: string][]>,
  Uses<{ offerId: string; status: undefined; error: 'timeout' }, ListenerOutcome>,
  Uses<Page<Endpoint>, { content: Endpoint[]; totalPages: number; totalElements: number }>,
  Uses<EventPage, CursorPage<PaymentEvent> & { next: string }>,
  Uses<DeliveryDetail, Delivery & { attemptLog: DeliveryAttempt[]; explanation: string }>,
  Uses<ReplayedDelivery['state'], DeliveryState>,
  Uses<TestResult, { delivered: boolean; status: number | null; error: string | null }>,
  Uses<Diagnosis, { valid: boolean; findings: { code: string; detail: string }[] }>,
  Uses<CheckReport['steps'][number]['result'], 'pass' | 'fail' | 'warning'>,
  Uses<Problem, { code: string; status: number; errors?: { pointer: string; detail: string }[] }>,
]

test('what integrators rely on is there', () => {
  const isCompiled: Relied extends readonly unknown[] ? true : never = true
  assert.ok(isCompiled)
})
