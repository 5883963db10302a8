// The names that people know deliveries by: the client and the account, and the payment as it is now. Read for
// one page of a list, by keys alone.

import { type PaymentSummary, summaryOf } from '../../core/payments/payment-summary.ts'
import type { Db } from '../connection/db.ts'
import { column } from '../sql/columns.ts'

export interface DeliveryNames {
  clientName: string
  accountName: string | null
  /** Null when the payment was erased, or is no longer kept. */
  payment: PaymentSummary | null
}

/** In the order given. */
export async function readDeliveryNames(
  db: Db,
  deliveries: readonly { clientKey: number; accountId: string; paymentId: string }[],
): Promise<readonly DeliveryNames[]> {
  if (deliveries.length === 0) return []
  const { rows } = await db.query<{
    client_name: string
    account_name: string | null
    text: string | null
  }>({
    name: 'read-delivery-names',
    text: `select c.name as client_name, a.name as account_name, p.text
           from unnest($1::int[], $2::uuid[], $3::uuid[]) with ordinality
             as k (client_key, account_id, payment_id, number)
           join clients c on c.client_key = k.client_key
           left join lateral (
             select a.name from accounts a
             where a.client_key = k.client_key and a.id = k.account_id limit 1) as a on true
           left join lateral (
             select p.text from payments p
             where p.id = k.payment_id and p.client_key = k.client_key limit 1) as p on true
           order by k.number`,
    values: [
      column('int', deliveries, (delivery) => delivery.clientKey),
      column('uuid', deliveries, (delivery) => delivery.accountId),
      column('uuid', deliveries, (delivery) => delivery.paymentId),
    ],
  })
  return rows.map((row) => ({
    clientName: row.client_name,
    accountName: row.account_name,
    payment: row.text === null ? null : summaryOf(row.text),
  }))
}
