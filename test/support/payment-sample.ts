// A payment as an operator's system would write it, for tests that need one and change a field or
// two.

import type { PaymentWrite } from '../../server/core/payments/payment.ts'
import { parsePayment } from '../../server/core/payments/payment-fields.ts'
import { parseJson } from '../../server/core/plain/exact-json.ts'

export const SAMPLE = {
  id: '5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a01',
  status: { state: 'DUE', reason: 'approved by two people' },
  createdAt: '2026-01-31T09:30:00Z',
  externalId: 'EXT-2026-000123',
  quoteId: '5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a02',
  amount: { amount: 12345.67, currency: 'EUR' },
  reference: 'Invoice 2026/17',
  purposeOfPayment: 'COMPUTER_SERVICES',
  beneficiaryId: '5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a03',
  documentReference: 'DOC-17',
  document: { mediaType: 'application/pdf', name: 'receipt.pdf', base64EncodedFile: 'JVBERi0=' },
  version: 17,
}

/** Of a write that conforms and has no file. */
export const PLAIN = { version: undefined, document: undefined }

/** The sample with some members replaced; one set to undefined is left out. */
export function sampleBody(changes: Record<string, unknown> = {}): Buffer<ArrayBuffer> {
  return Buffer.from(JSON.stringify({ ...SAMPLE, ...changes }))
}

/** The sample without a version, as a write that conforms. */
export function sampleWrite(changes: Record<string, unknown> = {}): PaymentWrite {
  const { value, amountText } = parseJson(sampleBody({ version: undefined, ...changes }))
  return parsePayment(value, amountText)
}
