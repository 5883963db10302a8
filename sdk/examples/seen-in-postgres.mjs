// What was handled before, in PostgreSQL: for several processes, and for those that restart. `pool` is
// a Pool of the package pg.
//
//   const receiver = createReceiver({ sharedKey, onPayment, seen: await createPostgresSeen(pool) })

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
      where settled_at is not null`)

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
      await pool.query(
        `insert into paybell_events (id, payment_id, sequence, settled_at) values ($1, $2, $3, now())
         on conflict (id) do update set settled_at = now()`,
        [id, paymentId, sequence ?? null],
      )
    },

    async release({ id }) {
      await pool.query('delete from paybell_events where id = $1 and settled_at is null', [id])
    },
  }
}
