// Calls with an operator's key, which is sent as it is: there is no token to fetch.

import { type Caller, createCaller } from '../calling/caller.ts'
import { readService, type ServiceOptions } from '../calling/service-options.ts'

export interface OperatorOptions extends ServiceOptions {
  /** With the role `ingest` for a producer, `viewer` for what only reads, otherwise `admin`. */
  operatorKey: string
  /** The account of payments that name none. */
  accountId?: string | undefined
}

export interface OperatorCallers {
  caller: Caller
  /** Each call once: for what decides by itself about another try. */
  once: Caller
  random: () => number
}

export function createOperatorCallers(options: OperatorOptions): OperatorCallers {
  const { operatorKey } = options
  const service = readService(options)
  if (typeof operatorKey !== 'string' || operatorKey === '') {
    throw new TypeError('operatorKey is missing.')
  }
  const bearer = { get: async () => operatorKey, refuse: () => false }
  return {
    caller: createCaller({ ...service, bearer }),
    once: createCaller({ ...service, transport: { ...service.transport, retries: 0 }, bearer }),
    random: service.transport.random,
  }
}
