-- What server/store/payments/payments.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1; set paybell.cell = 0;

-- payments.lockPayments: kept as lock-payments, hot path
prepare "payments.lockPayments" (uuid[]) as
  select pg_advisory_xact_lock(hash) from (
    select distinct uuid_hash_extended(id, current_setting('paybell.cell')::int) as hash
    from unnest($1::uuid[]) as id order by 1) as ordered;

-- payments.raiseVersions: kept as raise-versions, hot path
prepare "payments.raiseVersions" (integer[], uuid[], bigint[], timestamp with time zone) as
  update payments p set version = given.version, changed_at = $4
  from unnest((select $1::int[])::int[], $2::uuid[], $3::bigint[])
  as given (client_key, id, version)
  where p.id = given.id and p.client_key = given.client_key;

-- Alike: 2
-- payments.readLatestPaymentText: planned each time
prepare "payments.readLatestPaymentText" (integer) as
  select p.text from events e
  join payments p on p.client_key = e.client_key and p.id = e.payment_id
  where e.client_key = $1 and e.id >= uuid '019cb0fe-9400-0000-0000-000000000000' and substr(p.text, 46, 12) <> '"erasedAt":"'
  order by e.id desc limit 1;

-- payments.readLatestPaymentText 3: planned each time
prepare "payments.readLatestPaymentText 3" (integer) as
  select text from payments where client_key = $1 and substr(text, 46, 12) <> '"erasedAt":"'
  order by changed_at desc, id limit 1;

-- payments.readLocked: kept as read-locked-payments, hot path
prepare "payments.readLocked" (uuid[]) as
  select client_key, id, account_id, sequence, version, text, document_hash
  from payments where id = any((select $1::uuid[])::uuid[]);

-- payments.readPayment: kept as read-payment
prepare "payments.readPayment" (uuid, integer) as
  select p.id, c.id as client_id, p.client_key, p.account_id, p.version, p.sequence,
  p.accepted_at, p.text from payments p join clients c using (client_key)
  where p.id = $1 and ($2::int is null or p.client_key = $2) limit 1;

-- payments.tryLockPayments: kept as try-lock-payments, hot path
prepare "payments.tryLockPayments" (uuid[]) as
  select id from unnest($1::uuid[]) as id
  where not pg_try_advisory_xact_lock(uuid_hash_extended(id, current_setting('paybell.cell')::int));
