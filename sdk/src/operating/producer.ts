// The producer's side: payments in, one by one or as a stream. Amounts are exact text on the way.

import { segment } from '../calling/caller.ts'
import { type CallOptions, toJson } from '../calling/transport.ts'
import { PaybellError } from '../plain/errors.ts'
import { toPaymentJson } from '../plain/payment-json.ts'
import type { WrittenPayment } from '../wire/operator-types.ts'
import { type CellCallers, createCellCallers, isElsewhere, type ProducerOptions } from './cells.ts'
import { createOperatorCallers, type OperatorCallers } from './operator-caller.ts'
import { type Destinations, type PaymentInput, type PutAllOptions, putAll } from './put-all.ts'
import type { PutResult } from './send-lines.ts'

export interface Producer {
  /** Writes one payment. When it returns, the change, its event and all its deliveries are on disk. */
  put(payment: PaymentInput, details?: CallOptions): Promise<WrittenPayment>
  /**
   * Writes a stream of payments and yields a result for each, in the same order. It reads ahead by one request
   * and no further, so a source of any length needs little memory, and nothing is sent while your loop works.
   * What the service has not accepted is sent again, after the time that it asks for.
   *
   * When it throws, or your process ends, go on with `from`: one more than the last `index` that you have seen.
   * A payment that is sent twice makes no second event. For that, a payment that comes twice in the stream is
   * never sent twice in one request, and only with a rising `version` twice without a result in between: give a
   * `version` where you can.
   */
  putAll(
    source: Iterable<PaymentInput> | AsyncIterable<PaymentInput>,
    options?: PutAllOptions,
  ): AsyncGenerator<PutResult, void, void>
}

/**
 * Feeds payments in. The key needs no more than the role `ingest`.
 *
 * ```js
 * import { createProducer } from '@paybell/sdk/operator'
 *
 * const producer = createProducer({
 *   baseUrl: 'https://paybell.example.com',
 *   operatorKey: 'a-key-with-the-role-ingest',
 *   accountId: '3b1f0a52-7c86-4d1e-9f0a-8e2d5c4b6a70',
 * })
 * const results = producer.putAll([
 *   {
 *     id: '7c0d0a5e-54c8-4b56-9f0e-2a4f5d1c9b11',
 *     externalId: 'INV-2026-0042',
 *     quoteId: '0f7f2a61-9d0c-4f5e-8a3f-6d1b8a2c7e90',
 *     amount: { amount: '1250.50', currency: 'EUR' },
 *     reference: 'Invoice 42',
 *     purposeOfPayment: 'COMPUTER_SERVICES',
 *     beneficiaryId: 'c1f0a3de-8a1b-4b7c-9d2e-5f6a7b8c9d0e',
 *     version: 1,
 *   },
 * ])
 * for await (const { index, event, problem } of results) {
 *   console.log(index, problem?.detail ?? event?.type ?? 'as it was') // 0 payment.created
 * }
 * ```
 */
export function createProducer(options: ProducerOptions): Producer {
  const callers = createOperatorCallers(options)
  return producerCalls(callers, options.accountId, createCellCallers(options, callers))
}

export function producerCalls(
  own: OperatorCallers,
  ownAccountId?: string,
  cells: CellCallers | null = null,
): Producer {
  const accountOf = (accountId: string | null | undefined): string => {
    const found = accountId ?? ownAccountId
    if (found) return found
    throw new TypeError('accountId is missing: give it with the payment, or to the producer.')
  }
  return {
    async put({ accountId: given, ...payment }, details) {
      const accountId = accountOf(details?.accountId ?? given)
      const send = ({ caller }: OperatorCallers) =>
        caller.request('PUT', `/operator/v1/payments/${segment(payment.id)}`, {
          ...details,
          accountId,
          headers: { 'content-type': 'application/json' },
          content: toPaymentJson(payment),
          // The same payment again changes nothing.
          isSafe: true,
        })
      const callers = (await cells?.of(accountId)) ?? own
      try {
        return toJson(await send(callers)) as WrittenPayment
      } catch (error) {
        const isMoved = error instanceof PaybellError && isElsewhere(error.code)
        if (!isMoved || callers === own) throw error
        await cells?.refresh()
        return toJson(await send(own)) as WrittenPayment
      }
    },
    putAll: (source, options = {}) =>
      putAll(
        toDestinations(own, cells),
        source,
        (payment) => ({ ...payment, accountId: accountOf(payment.accountId) }),
        { random: own.random, ...options },
      ),
  }
}

function toDestinations({ once }: OperatorCallers, cells: CellCallers | null): Destinations {
  return {
    own: once,
    of: async (accountId) => (cells === null ? once : (await cells.of(accountId)).once),
    refresh: async () => cells?.refresh(),
  }
}
