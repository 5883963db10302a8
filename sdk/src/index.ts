// @paybell/sdk: talk to Paybell, and receive what it sends. Only what every modern runtime has: fetch
// and Web Crypto. What needs Node's shapes is in @paybell/sdk/adapters.

export type { CallDetails } from './calling/caller.ts'
export { type Client, createClient } from './calling/client.ts'
export type { ClientOptions, Credentials } from './calling/client-caller.ts'
export type { MissingEvents, PageQuery, Recovery } from './calling/endpoint-calls.ts'
export type {
  DeliveryQuery,
  EventQuery,
  FollowOptions,
  PaymentQuery,
} from './calling/history-calls.ts'
export type { CallOptions } from './calling/transport.ts'
export type { Whpk } from './plain/ed25519.ts'
export {
  type LocalErrorCode,
  PaybellError,
  SignatureError,
  type SignatureErrorCode,
} from './plain/errors.ts'
export type { HeadersLike } from './plain/headers.ts'
export {
  type ReceivedHour,
  type ReceivedStore,
  receivedFromIds,
  type Window,
} from './plain/ids-digest.ts'
export { parseExact, toExactJson, toMinorUnits } from './plain/money.ts'
export type { PrivateJwk, PrivateKey } from './plain/private-key.ts'
export {
  type HourDifference,
  type ReconcileOptions,
  type Reconciliation,
  reconcile,
} from './proving/reconcile.ts'
export { type KeySet, type SignedKey, verifyReceipt, verifyStatement } from './proving/signed.ts'
export {
  type FetchKeysOptions,
  fetchPublicKeys,
  type PublicKey,
  type PublicKeySource,
  type PublicKeys,
} from './receiving/public-keys.ts'
export type { ReceivedDocument, ReceivedPayment } from './receiving/received-document.ts'
export { createReceiver, type Receiver, type ReceiverOptions } from './receiving/receiver.ts'
export { type Claim, createMemorySeen, type SeenEvent, type SeenStore } from './receiving/seen.ts'
export {
  createTestKey,
  type SignedCallback,
  signForTest,
  type TestCallback,
  type TestKey,
} from './receiving/sign-for-test.ts'
export {
  type Callback,
  type SharedKeys,
  type VerifyOptions,
  verify,
  verifySignature,
} from './receiving/verify.ts'
export type { Money, PaymentDocument } from './wire/payment-parts.ts'
export type * from './wire/types.ts'
