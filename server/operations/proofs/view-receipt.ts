// The receipt of a delivery that was answered with 200: what was sent, where, when, and when the answer came, as a
// JWS under a key of the service. Made when it is asked for, from what is stored anyway. There is one for everything that
// a statement counts as delivered, also when it was replayed in vain since.

import { createHash } from 'node:crypto'
import { ServiceError } from '../../core/plain/errors.ts'
import { findEarlierAddress } from '../../store/endpoints/earlier-addresses.ts'
import { readDeliveryDetail, readSuccess } from '../../store/history/delivery-details.ts'
import { findSentBody } from '../deliveries/sent-body.ts'
import type { DeliveryReader } from '../deliveries/view-deliveries.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

/** The `typ` of its JWS. */
const RECEIPT_TYP = 'paybell-receipt+jws'

/** A compact JWS. */
export async function viewReceipt(
  deps: Deps,
  reader: DeliveryReader,
  deliveryId: string,
): Promise<string> {
  const of = reader.kind === 'client' ? reader : { clientKey: null, accountId: null }
  const delivery = await readDeliveryDetail(deps.pool, deliveryId, of)
  if (delivery === null) throw notFound()
  const attempt = await readSuccess(deps.pool, delivery)
  if (attempt === null) throw noReceipt(delivery.state)
  if (delivery.documentMode === 'link' && (await deps.callbackLinks.find(delivery)) === null) {
    throw new ServiceError(
      'no-receipt',
      'The link that this callback carried was not kept, because a version before sent it: its bytes are not known.',
    )
  }
  const body = await findSentBody(deps, delivery)
  if (body === null) {
    throw new ServiceError('payload-expired', 'A receipt names the bytes, which are gone.')
  }
  const earlierUrl = await findEarlierAddress(deps.pool, delivery, attempt.at)
  const sentAtMs = attempt.at.getTime()
  return deps.webhookKeys.signStatement(RECEIPT_TYP, {
    deliveryId: delivery.id,
    webhookId: delivery.eventId,
    paymentId: delivery.paymentId,
    sequence: delivery.sequence,
    endpointUrl: earlierUrl ?? delivery.endpointUrl,
    bodySha256: digestOf(body),
    attempt: attempt.attempt,
    sentAt: attempt.at.toISOString(),
    answeredAt: new Date(sentAtMs + attempt.durationMs).toISOString(),
    status: attempt.status,
  })
}

function digestOf(parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

function noReceipt(state: string): ServiceError {
  return new ServiceError(
    'no-receipt',
    `This delivery is ${state}, and no attempt of it was answered with 200.`,
  )
}
