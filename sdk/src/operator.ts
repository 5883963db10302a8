// @paybell/sdk/operator: for those who feed payments in, and for those who run Paybell. Its calls carry an
// operator's key, which never belongs into a client's program: therefore an entry point of its own.

export type { CallDetails } from './calling/caller.ts'
export type { CallOptions } from './calling/transport.ts'
export type { DirectoryOptions, ProducerOptions } from './operating/cells.ts'
export type { OperatorOptions } from './operating/operator-caller.ts'
export { createOperator, type Operator } from './operating/operator-client.ts'
export type { BulkResult, WatchedEvent } from './operating/operator-delivery-calls.ts'
export { createProducer, type Producer } from './operating/producer.ts'
export type { PaymentInput, PutAllOptions } from './operating/put-all.ts'
export type { PutResult } from './operating/send-lines.ts'
export { type LocalErrorCode, PaybellError } from './plain/errors.ts'
export type * from './wire/operator-types.ts'
export type { Money, PaymentDocument } from './wire/payment-parts.ts'
export type * from './wire/types.ts'
