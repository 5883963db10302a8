// What was handled before, in PostgreSQL: for several processes, and for those that restart. `pool` is
// a Pool of the package pg.
//
//   const receiver = createReceiver({ sharedKey, onPayment, seen: await createPostgresSeen(pool) })

import { createHash } from 'node:crypto'

const HOUR_MS = 3_600_000

const sha256 = (id) => createHash('sha256').update(id).digest('hex')

/** A `webhook-id` is a UUIDv7: it begins with its time in milliseconds. */
const hourOf = (id) => {
  const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return new Date(ms - (ms % HOUR_MS))
}

const firstIdOf = (instant) => {
  const time = new Date(instant).getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

/** After this time a claim is taken to be that of a process that died. Longer than your work takes. */
const CLAIM_SECONDS = 60

export async function createPostgresSeen(pool) {
  await pool.query(`
    create table if not exists paybell_events (
      id text primary key,
      payment_id text not null,
      sequence integer,
      claimed_at timestamptz not null default now(),
      settled_at timestamptz
    );
    create index if not exists paybell_events_of_payment on paybell_events (payment_id, sequence)
      where settled_at is not null;
    create table if not exists paybell_hours (
      hour timestamptz primary key,
      received integer not null,
      digest numeric(78) not null
    )`)

  return {
    async claim({ id, paymentId, sequence }) {
      // One statement, so that of two processes exactly one gets the row back.
      const { rows } = await pool.query(
        `insert into paybell_events as e (id, payment_id, sequence)
         select $1, $2, $3::integer
         where not exists (
           select from paybell_events
           where payment_id = $2 and sequence >= $3::integer and settled_at is not null)
         on conflict (id) do update set claimed_at = now()
         where e.settled_at is null and e.claimed_at < now() - make_interval(secs => $4)
         returning id`,
        [id, paymentId, sequence ?? null, CLAIM_SECONDS],
      )
      if (rows.length > 0) return 'new'
      const known = await pool.query('select settled_at from paybell_events where id = $1', [id])
      if (known.rows.length === 0) return 'stale'
      return known.rows[0].settled_at ? 'duplicate' : 'busy'
    },

    async settle({ id, paymentId, sequence }) {
      // One statement, so that an id is remembered and counted, or neither; and counted once.
      await pool.query(
        `with settled as (
           insert into paybell_events as e (id, payment_id, sequence, settled_at)
           values ($1, $2, $3, now())
           on conflict (id) do update set settled_at = now() where e.settled_at is null
           returning id)
         insert into paybell_hours as h (hour, received, digest)
         select $4, 1, $5::numeric from settled
         on conflict (hour) do update set received = h.received + 1,
           digest = mod(h.digest + excluded.digest, 2::numeric ^ 256)`,
        [id, paymentId, sequence ?? null, hourOf(id), BigInt(`0x${sha256(id)}`).toString()],
      )
    },

    async release({ id }) {
      await pool.query('delete from paybell_events where id = $1 and settled_at is null', [id])
    },

    // The two numbers of each hour, for `reconcile`.
    async hours({ from, to }) {
      const { rows } = await pool.query(
        'select hour, received, digest::text from paybell_hours where hour >= $1 and hour < $2',
        [from, to],
      )
      return rows.map(({ hour, received, digest }) => ({
        from: hour.toISOString(),
        received,
        idsDigest: BigInt(digest).toString(16).padStart(64, '0'),
      }))
    },

    async ids({ from, to }) {
      const { rows } = await pool.query(
        'select id from paybell_events where settled_at is not null and id >= $1 and id < $2',
        [firstIdOf(from), firstIdOf(to)],
      )
      return rows.map(({ id }) => id)
    },
  }
}
