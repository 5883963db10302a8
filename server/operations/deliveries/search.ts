// One box for everything: any id, an externalId, words of a name or of an address. An id is found once, by the
// first thing that has it; names are looked for among payments, clients, accounts and endpoints.

import { isUuid } from '../../core/plain/uuid.ts'
import { type Of, readDeliveryDetail } from '../../store/history/delivery-details.ts'
import { readDeliveryNames } from '../../store/history/delivery-names.ts'
import { findPayment } from '../../store/history/delivery-search.ts'
import { findJob } from '../../store/history/jobs.ts'
import {
  findEventHit,
  findHolderById,
  findNamedAccounts,
  findNamedClients,
  findNamedEndpoints,
  findPaymentHits,
  type Hit,
} from '../../store/history/search-hits.ts'
import { findByExternalId } from '../../store/payments/payment-lists.ts'
import type { Deps } from '../shared/deps.ts'

export type { Hit }

/** Payments that share an externalId; the newest. */
const SAME_NAME_MAX = 8

/** `of` names the client that asks; the operator finds what any client has. */
export function search(
  { pool }: Pick<Deps, 'pool'>,
  text: string,
  of: Of,
): Promise<readonly Hit[]> {
  const words = text.trim()
  return isUuid(words) ? findById(pool, words.toLowerCase(), of) : findByName(pool, words, of)
}

async function findByName(pool: Deps['pool'], words: string, of: Of): Promise<readonly Hit[]> {
  const payments = await findByExternalId(pool, words, of.clientKey, SAME_NAME_MAX)
  return [
    ...(await findPaymentHits(pool, payments, of)),
    ...(of.clientKey === null ? await findNamedClients(pool, words) : []),
    ...(await findNamedEndpoints(pool, words, of)),
    ...(await findNamedAccounts(pool, words, of)),
  ]
}

/** The likeliest first, the dearest last. */
async function findById(pool: Deps['pool'], id: string, of: Of): Promise<readonly Hit[]> {
  const payments = await findPaymentHits(pool, await findPayment(pool, id), of)
  if (payments.length > 0) return payments
  const hit =
    (await findHolderById(pool, id, of)) ??
    (await findEventHit(pool, id, of)) ??
    (await findDelivery(pool, id, of)) ??
    (of.clientKey === null ? await findJobHit(pool, id) : null)
  return hit === null ? [] : [hit]
}

async function findDelivery(pool: Deps['pool'], id: string, of: Of): Promise<Hit | null> {
  const found = await readDeliveryDetail(pool, id, of)
  if (found === null) return null
  const { endpointUrl: name, state, paymentId, clientId } = found
  const [names] = await readDeliveryNames(pool, [found])
  const clientName = names?.clientName ?? null
  return { kind: 'delivery', id, name, state, paymentId, clientId, clientName }
}

async function findJobHit(pool: Deps['pool'], id: string): Promise<Hit | null> {
  const job = await findJob(pool, id)
  if (job === null) return null
  const nothing = { paymentId: null, clientId: null, clientName: null }
  return { kind: 'job', id, name: job.kind, state: job.state, ...nothing }
}
