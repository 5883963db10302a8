// Payments, endpoints, clients and the audit, as the HTTP API tells of them.

import type { EndpointStatus, EventKind, Health } from './types.ts'

export const PAYMENT_STATES = ['DRAFT', 'PENDING_APPROVAL', 'DUE', 'PAID', 'CANCELLED'] as const

export type PaymentState = (typeof PAYMENT_STATES)[number]

export interface Payment {
  id: string
  status?: { state: PaymentState; reason?: string }
  complete?: boolean
  createdAt: string
  completedAt?: string
  externalId: string
  quoteId: string
  /** The digits as they were written (api/client.ts). */
  amount: { amount: string; currency: string }
  reference: string
  purposeOfPayment: string
  beneficiaryId: string
  documentReference?: string
  document?: { mediaType: string; name: string }
  /** To the operator only. */
  accountId?: string
  clientId?: string
  version?: number | null
  sequence?: number
}

export interface PaymentEvent {
  id: string
  event: EventKind
  sequence: number
  paymentId: string
  createdAt: string
  payment: Payment
}

export type EndpointKind = 'webhook' | 'subscription' | 'listener'

/** As the operator sees it; a client's own has no owner, and its health only when it is asked for. */
export interface Endpoint {
  id: string
  kind: EndpointKind
  endpointUrl: string
  hmacHeaderName: string
  algorithm: string
  status: EndpointStatus
  accountId?: string | null
  clientId?: string
  createdAt?: string
  deletedAt?: string | null
  health?: Health
  hours?: readonly EndpointHour[]
}

/** Hours without an attempt are left out. */
export interface EndpointHour {
  at: string
  attempts: number
  delivered: number
}

export interface Client {
  clientId: string
  name: string
  status: 'ACTIVE' | 'DISABLED'
  createdAt: string
}

export interface ClientWithSecrets extends Client {
  secrets: readonly { secretId: string; createdAt: string }[]
}

export interface Account {
  id: string
  name: string
}

export interface AuditRow {
  id: string
  at: string
  actor: string
  action: string
  object: string
  requestId: string
}
