// @paybell/sdk/operator: for those who feed payments in, and for those who run Paybell. Its calls carry an
// operator's key, which never belongs into a client's program: therefore an entry point of its own.

export type { CallDetails } from './caller.ts'
export type { DirectoryOptions, ProducerOptions } from './cells.ts'
export { type LocalErrorCode, PaybellError } from './errors.ts'
export type { OperatorOptions } from './operator-caller.ts'
export { createOperator, type Operator } from './operator-client.ts'
export type { BulkResult, WatchedEvent } from './operator-delivery-calls.ts'
export type * from './operator-types.ts'
export type { Money, PaymentDocument } from './payment-parts.ts'
export { createProducer, type Producer } from './producer.ts'
export type { PaymentInput, PutAllOptions } from './put-all.ts'
export type { PutResult } from './send-round.ts'
export type { CallOptions } from './transport.ts'
export type * from './types.ts'
