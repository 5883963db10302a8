// A callback as Paybell would send it, for an integrator's own tests.

import {
  exportWhpk,
  type ImportedKey,
  signEntry,
  signedContent,
  type Whpk,
} from '../plain/ed25519.ts'
import { hmacSignature, standardSignature, toBytes } from '../plain/hmac.ts'
import { toExactJson } from '../plain/money.ts'
import type { EventKind, Payment } from '../wire/types.ts'

export interface TestCallback {
  sharedKey: string
  /** Members that replace those of a specimen. */
  payment?: Partial<Payment> | undefined
  /** Instead of a payment: these very bytes. */
  body?: string | Uint8Array | undefined
  id?: string | undefined
  event?: EventKind | undefined
  sequence?: number | undefined
  attempt?: number | undefined
  /** Time of the attempt; now by default. */
  at?: Date | undefined
  /** As in the 24 h after a rotation: the old key signs as well. */
  previousKey?: string | undefined
  /** As for an endpoint with `ed25519`: these keys, the newest first, sign as well. Made by `createTestKey`. */
  signingKeys?: TestKey | readonly TestKey[] | undefined
  isTest?: boolean | undefined
  isReplay?: boolean | undefined
}

/** A key of its own kind as Paybell has it, for tests. */
export interface TestKey {
  kid: string
  /** What your receiver is given. */
  whpk: Whpk
  privateKey: ImportedKey
}

export interface SignedCallback {
  headers: Record<string, string>
  body: Uint8Array<ArrayBuffer>
  /** For receivers that take a Request. */
  toRequest(url?: string): Request
}

export const SPECIMEN: Payment = {
  id: '7c0d0a5e-54c8-4b56-9f0e-2a4f5d1c9b11',
  status: { state: 'DUE' },
  complete: false,
  createdAt: '2026-03-02T09:30:00.000Z',
  externalId: 'INV-2026-0042',
  quoteId: '0f7f2a61-9d0c-4f5e-8a3f-6d1b8a2c7e90',
  amount: { amount: '1250.50', currency: 'EUR' },
  reference: 'Invoice 42 · Zürich',
  purposeOfPayment: 'COMPUTER_SERVICES',
  beneficiaryId: 'c1f0a3de-8a1b-4b7c-9d2e-5f6a7b8c9d0e',
}

/**
 * Headers and body of a callback, signed as Paybell signs: for the tests of your receiver.
 *
 * ```js
 * import { signForTest, verify } from '@paybell/sdk'
 *
 * const sharedKey = 'a-long-random-text-that-only-we-two-know'
 * const { body, headers } = await signForTest({
 *   sharedKey,
 *   event: 'payment.paid',
 *   payment: { status: { state: 'PAID' }, complete: true },
 * })
 * console.log((await verify(body, headers, sharedKey)).payment.complete) // true
 * ```
 */
export async function signForTest(callback: TestCallback): Promise<SignedCallback> {
  const body = toBytes(callback.body ?? toExactJson({ ...SPECIMEN, ...callback.payment }))
  const id = callback.id ?? crypto.randomUUID()
  const timestamp = String(Math.floor((callback.at ?? new Date()).getTime() / 1_000))
  const keys = [callback.sharedKey, ...(callback.previousKey ? [callback.previousKey] : [])]
  const [hmac, previousHmac] = await Promise.all(keys.map((key) => hmacSignature(key, body)))
  const signatures = await Promise.all(
    keys.map((key) => standardSignature(key, id, timestamp, body)),
  )
  const own = [callback.signingKeys ?? []].flat()
  for (const { privateKey } of own) {
    signatures.push(await signEntry(privateKey, signedContent(id, timestamp, body)))
  }
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-paybell-hmac': hmac as string,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
    'x-paybell-event': callback.event ?? 'payment.created',
    'x-paybell-sequence': String(callback.sequence ?? 1),
    'x-paybell-attempt': String(callback.attempt ?? 1),
  }
  if (previousHmac) headers['x-paybell-hmac-previous'] = previousHmac
  if (own[0]) headers['x-paybell-key-id'] = own[0].kid
  if (callback.isTest) headers['x-paybell-test'] = 'true'
  if (callback.isReplay) headers['x-paybell-replay'] = 'true'
  return {
    headers,
    body,
    toRequest: (url = 'https://receiver.example/hook') =>
      new Request(url, { method: 'POST', headers, body }),
  }
}

/**
 * A key for tests of a receiver that verifies `v1a`.
 *
 * ```js
 * import { createTestKey, signForTest, verify } from '@paybell/sdk'
 *
 * const key = await createTestKey()
 * const { body, headers } = await signForTest({ sharedKey: 'k', signingKeys: key })
 * const { event } = await verify(body, headers, null, { publicKeys: key.whpk })
 * console.log(event) // payment.created
 * ```
 */
export async function createTestKey(kid: string = crypto.randomUUID()): Promise<TestKey> {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
  const { privateKey, publicKey } = pair as Record<'privateKey' | 'publicKey', ImportedKey>
  return { kid, whpk: await exportWhpk(publicKey), privateKey }
}
