-- What server/store/payments/accept.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- accept.markElders: kept as find-elders, hot path
prepare "accept.markElders" (integer[], uuid[], uuid[]) as
  select g.number::int from unnest((select $1::int[])::int[], $2::uuid[], $3::uuid[])
  with ordinality as g (client_key, endpoint_id, payment_id, number)
  cross join lateral (
    select from pending_deliveries p
    where p.client_key = g.client_key and p.endpoint_id = g.endpoint_id
    and p.payment_id = g.payment_id limit 1) as elder;

-- accept.readListening: kept as read-listening, hot path
prepare "accept.readListening" (integer[], uuid[]) as
  select e.* from unnest((select $1::int[])::int[], $2::uuid[]) as g (client_key, scope)
  cross join lateral (
    select e.client_key, e.id, e.account_id, e.shard, e.events, e.document
    from endpoints e
    where e.client_key = g.client_key and e.scope = g.scope and e.deleted_at is null
    offset 0) as e;

-- accept.saveKnownPayments: kept as save-known-payments, hot path
prepare "accept.saveKnownPayments" (integer[], uuid[], uuid[], integer[], bigint[], bytea[], bytea, timestamp with time zone, integer[], integer[]) as
  insert into payments
  (client_key, id, account_id, sequence, version, document_hash, text, accepted_at,
    changed_at)
  select client_key, id, account_id, sequence, version, document_hash, convert_from(substring($7::bytea from start for length), 'UTF8'),
  $8::timestamptz, $8::timestamptz
  from unnest((select $1::int[])::int[], $2::uuid[], $3::uuid[], $4::int[], $5::bigint[],
    $6::bytea[], $9::int[], $10::int[])
  as g (client_key, id, account_id, sequence, version, document_hash, start, length)
  on conflict (id, client_key) do update set
  sequence = excluded.sequence, version = excluded.version, text = excluded.text,
  document_hash = excluded.document_hash, changed_at = excluded.changed_at;
