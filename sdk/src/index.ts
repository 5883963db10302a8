// @paybell/sdk: talk to Paybell, and receive what it sends. Only what every modern runtime has: fetch
// and Web Crypto. What needs Node's shapes is in @paybell/sdk/adapters.

export type { CallDetails } from './caller.ts'
export { type Client, createClient } from './client.ts'
export type { ClientOptions } from './client-caller.ts'
export type { Whpk } from './ed25519.ts'
export type { MissingEvents, PageQuery, Recovery } from './endpoint-calls.ts'
export {
  type LocalErrorCode,
  PaybellError,
  SignatureError,
  type SignatureErrorCode,
} from './errors.ts'
export type { HeadersLike } from './headers.ts'
export type { DeliveryQuery, EventQuery, FollowOptions, PaymentQuery } from './history-calls.ts'
export {
  type ReceivedHour,
  type ReceivedStore,
  receivedFromIds,
  type Window,
} from './ids-digest.ts'
export { parseExact, toExactJson, toMinorUnits } from './money.ts'
export type { Money, PaymentDocument } from './payment-parts.ts'
export {
  type FetchKeysOptions,
  fetchPublicKeys,
  type PublicKey,
  type PublicKeySource,
  type PublicKeys,
} from './public-keys.ts'
export type { ReceivedDocument, ReceivedPayment } from './received-document.ts'
export { createReceiver, type Receiver, type ReceiverOptions } from './receiver.ts'
export {
  type HourDifference,
  type ReconcileOptions,
  type Reconciliation,
  reconcile,
} from './reconcile.ts'
export { type Claim, createMemorySeen, type SeenEvent, type SeenStore } from './seen.ts'
export {
  createTestKey,
  type SignedCallback,
  signForTest,
  type TestCallback,
  type TestKey,
} from './sign-for-test.ts'
export { type KeySet, type SignedKey, verifyReceipt, verifyStatement } from './signed.ts'
export type { CallOptions } from './transport.ts'
export type * from './types.ts'
export {
  type Callback,
  type SharedKeys,
  type VerifyOptions,
  verify,
  verifySignature,
} from './verify.ts'
