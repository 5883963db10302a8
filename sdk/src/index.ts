// @paybell/sdk: talk to Paybell, and receive what it sends. Only what every modern runtime has: fetch
// and Web Crypto. What needs Node's shapes is in @paybell/sdk/adapters.

export {
  type CallDetails,
  type Client,
  type ClientOptions,
  type CursorPage,
  createClient,
  type DeliveryQuery,
  type EventPage,
  type EventQuery,
  type FollowOptions,
  type ListenerOutcome,
  type PageQuery,
  type Recovery,
} from './client.ts'
export {
  type LocalErrorCode,
  PaybellError,
  SignatureError,
  type SignatureErrorCode,
} from './errors.ts'
export type { HeadersLike } from './headers.ts'
export { parseExact, toExactJson, toMinorUnits } from './money.ts'
export { createReceiver, type Receiver, type ReceiverOptions } from './receiver.ts'
export { type Claim, createMemorySeen, type SeenEvent, type SeenStore } from './seen.ts'
export { type SignedCallback, signForTest, type TestCallback } from './sign-for-test.ts'
export type { CallOptions } from './transport.ts'
export type * from './types.ts'
export {
  type Callback,
  type SharedKeys,
  type VerifyOptions,
  verify,
  verifySignature,
} from './verify.ts'
