// A million retries that are due on later days lie in the store. They must cost nothing until then.

import type { BenchDatabase } from '../harness/database.ts'
import { measureOne } from '../harness/measure.ts'
import type { Prepared } from '../paybell/prepare.ts'
import { number } from '../report/text.ts'
import { costOf, type Scenario } from './scenario.ts'
import { withPaybell } from './with-paybell.ts'

async function storeRetries(
  database: BenchDatabase,
  prepared: Prepared,
  count: number,
): Promise<void> {
  const { endpoints } = prepared
  await database.query(
    `insert into paybell.pending_deliveries (client_key, id, event_id, endpoint_id, payment_id,
       account_id, sequence, kind, shard, created_at, next_attempt_at, attempts, run_attempts,
       first_attempt_at, first_failed_at, deadline_at, last_outcome, last_status)
     select $1, gen_random_uuid(), gen_random_uuid(), e.id, gen_random_uuid(), e.account_id, 1,
       'payment.created', e.shard, now(), now() + interval '1 day' + n * interval '0.3 s', 5, 5,
       now(), now(), now() + interval '7 days', 'answered', 500
     from generate_series(1, $2::int) as n
     join unnest($3::uuid[], $4::smallint[], $5::uuid[]) with ordinality
       as e (id, shard, account_id, place) on e.place = 1 + n % $6::int`,
    [
      prepared.clientKey,
      count,
      endpoints.map((endpoint) => endpoint.id),
      endpoints.map((endpoint) => endpoint.shard),
      endpoints.map((endpoint) => endpoint.accountId),
      endpoints.length,
    ],
  )
  await database.query('vacuum analyze paybell.pending_deliveries')
}

export const storedRetries: Scenario = {
  name: 'stored-retries',
  async measure(options) {
    const count = options.isTrial ? 20_000 : 1_000_000
    const measure = (stored: number) =>
      withPaybell(
        {
          endpoints: options.endpoints,
          beforeStart: async (database, prepared) => {
            if (stored > 0) await storeRetries(database, prepared, stored)
          },
        },
        (stage, paybell) => measureOne(stage, paybell, { ...options, feed: 'batch' }),
      )
    // There and back again: the second pair tells a difference from a drift.
    const rounds = [await measure(0), await measure(count)]
    if (!options.isTrial) rounds.push(await measure(count), await measure(0))
    const [empty, stored, storedAgain = stored, emptyAgain = empty] = rounds as Required<
      [(typeof rounds)[0], (typeof rounds)[0], (typeof rounds)[0], (typeof rounds)[0]]
    >
    const before = (empty.perSecond + emptyAgain.perSecond) / 2
    const after = (stored.perSecond + storedAgain.perSecond) / 2
    const missing = rounds.reduce((sum, round) => sum + round.missing, 0)
    return [
      {
        target: 2,
        name: `${number(count)} future retries stored`,
        measured: `${number(after)}/s`,
        against: `${number(before)}/s empty`,
        ratio: after / before,
        wanted: '≥ 0.9',
        isMet: missing === 0 && after / before >= 0.9,
        detail: `CPU-s per 1,000: ${number(stored.cpu.service + stored.cpu.store, 3)} against ${number(empty.cpu.service + empty.cpu.store, 3)}; missing ${missing}.`,
        latencies: [],
        cost: costOf(stored),
      },
    ]
  },
}
