// The operator's interface: the calls of each kind of thing, over one caller.

import type { CallDetails } from '../calling/caller.ts'
import { type CertificateCalls, certificateCalls } from './certificate-calls.ts'
import { createOperatorCallers, type OperatorOptions } from './operator-caller.ts'
import {
  type AccountCalls,
  type AuditCalls,
  accountCalls,
  auditCalls,
  type ClientCalls,
  clientCalls,
  type KeyCalls,
  keyCalls,
  type OperatorEndpointCalls,
  operatorEndpointCalls,
  type ServiceCalls,
  type SigningKeyCalls,
  serviceCalls,
  signingKeyCalls,
} from './operator-calls.ts'
import {
  type BodyCalls,
  bodyCalls,
  type JobCalls,
  jobCalls,
  type OperatorDeliveryCalls,
  operatorDeliveryCalls,
  type WatchCall,
  watchCall,
} from './operator-delivery-calls.ts'
import { type PaymentCalls, paymentCalls } from './operator-payment-calls.ts'
import { type Producer, producerCalls } from './producer.ts'

export interface Operator {
  /** Any call of the interface, for what the SDK has no name for yet. */
  call<Result>(method: string, path: string, details?: CallDetails): Promise<Result>
  payments: Producer & PaymentCalls
  clients: ClientCalls
  accounts: AccountCalls
  endpoints: OperatorEndpointCalls
  deliveries: OperatorDeliveryCalls
  events: BodyCalls
  jobs: JobCalls
  keys: KeyCalls
  /** Those that sign access tokens. */
  signingKeys: SigningKeyCalls
  /** Those that sign callbacks and statements. */
  webhookKeys: SigningKeyCalls
  /** What receivers are shown when they ask who calls. */
  certificates: CertificateCalls
  audit: AuditCalls
  /** The settings of the process that answers, and the service at a glance. */
  service: ServiceCalls
  /** What the process that answers accepts and attempts, live; a `signal` ends it. */
  watch: WatchCall
}

/**
 * The operator's interface: clients, payments, endpoints, deliveries of everyone. Nothing is sent before the
 * first call.
 *
 * ```js
 * import { createOperator } from '@paybell/sdk/operator'
 *
 * const operator = createOperator({
 *   baseUrl: 'https://paybell.example.com',
 *   operatorKey: 'an-operator-key',
 * })
 * const { clientId, clientSecret } = await operator.clients.create({ name: 'Northwind Traders' })
 * const account = await operator.accounts.create(clientId, { name: 'Main' })
 * console.log(account.name, clientSecret.length > 0) // Main true
 * const missed = { clientId, from: new Date('2026-03-01') }
 * if ((await operator.deliveries.countReplayable(missed)) > 0) {
 *   const { jobId } = await operator.deliveries.replayAll(missed)
 *   console.log((await operator.jobs.untilEnded(jobId)).state) // DONE
 * }
 * ```
 */
export function createOperator(options: OperatorOptions): Operator {
  const callers = createOperatorCallers(options)
  const { caller } = callers
  return {
    call: caller.call,
    payments: { ...producerCalls(callers, options.accountId), ...paymentCalls(caller) },
    clients: clientCalls(caller),
    accounts: accountCalls(caller),
    endpoints: operatorEndpointCalls(caller),
    deliveries: operatorDeliveryCalls(caller),
    events: bodyCalls(caller),
    jobs: jobCalls(caller),
    keys: keyCalls(caller),
    signingKeys: signingKeyCalls(caller, 'signing-keys'),
    certificates: certificateCalls(caller),
    webhookKeys: signingKeyCalls(caller, 'webhook-keys'),
    audit: auditCalls(caller),
    service: serviceCalls(caller),
    watch: watchCall(caller),
  }
}
