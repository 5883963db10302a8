// One delivery as the API tells it: to its client §8, to the operator more (§9.4).

import type { Delivery } from '../../api/types.ts'
import type { RunAttempt } from './runs.ts'

export interface Attempt extends RunAttempt {
  /** To the operator only: the beginning of what came back. */
  excerpt: string | null
}

export interface Header {
  name: string
  value: string
}

export interface SentRequest {
  method: string
  url: string
  attempt: number | null
  headers: readonly Header[]
  /** Without the file of a document; null when it is no longer stored. */
  body: string | null
  bodyBytes: number | null
  bodyUrl: string
}

export interface SignatureInputs {
  algorithm: string
  headers: readonly { name: string; signed: string; encoding: string }[]
  webhookId: string
  timestamp: number | null
  keys: number
}

export interface DeliveryDetail extends Delivery {
  attemptLog: readonly Attempt[]
  explanation: string
  /** To the operator only. */
  request?: SentRequest
  signatureInputs?: SignatureInputs
  response?: { status: number | null; excerpt: string | null } | null
}

/** Why an attempt was, or was not, the last one. Only 200 counts, which surprises people. */
export function describeAnswer({ status, error }: Pick<Attempt, 'status' | 'error'>): string {
  if (status === null) return REASONS[error ?? ''] ?? error ?? 'No answer'
  if (status === 200) return 'Accepted'
  if (status < 300) return `${status} is not 200: retried`
  if (status < 400) return 'Redirects are not followed: retried'
  return 'Retried'
}

const REASONS: Readonly<Record<string, string>> = {
  timeout: 'No answer in time',
  'connect-error': 'The connection was refused',
  'no-address': 'The host has no address that callbacks may be sent to',
  'dns-error': 'The name of the host has no address',
  'tls-error': 'The certificate is not valid, or no handshake',
  'connection-reset': 'The connection was lost before an answer',
  'protocol-error': 'The answer was no HTTP',
  'blocked-address': 'The address must not be reached',
}
