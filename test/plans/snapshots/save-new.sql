-- What server/store/payments/save-new.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- save-new.saveMany: kept as save-new-events, hot path
prepare "save-new.saveMany" (integer[], uuid[], uuid[], uuid[], integer[], text[], bytea, timestamp with time zone, bytea[], integer[], integer[], integer[]) as
  insert into events (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
    document_bytes, created_at)
  select client_key, id, payment_id, account_id, sequence, kind, convert_from(substring($7::bytea from start for length), 'UTF8'), document_hash,
  document_bytes, $8::timestamptz
  from unnest((select $1::int[])::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::int[], $6::text[],
    $9::bytea[], $10::int[], $11::int[], $12::int[])
  as g (client_key, id, payment_id, account_id, sequence, kind, document_hash, document_bytes,
    start, length);

-- save-new.saveMany 2: kept as save-new-deliveries, hot path
prepare "save-new.saveMany 2" (integer[], uuid[], uuid[], uuid[], integer[], timestamp with time zone, uuid[], integer[], uuid[], text[], smallint[], text[]) as
  insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, shard,
    created_at, next_attempt_at, document_mode)
  select ($1::int[])[event], id, ($2::uuid[])[event], endpoint_id, ($3::uuid[])[event],
  ($4::uuid[])[event], ($5::int[])[event], kind, shard, $6::timestamptz, $6, document_mode
  from unnest((select $7::uuid[])::uuid[], $8::int[], $9::uuid[], $10::text[], $11::smallint[], $12::text[])
  as d (id, event, endpoint_id, kind, shard, document_mode);

-- save-new.saveMany 3: kept as save-new-payments, hot path
prepare "save-new.saveMany 3" (integer[], uuid[], uuid[], integer[], bigint[], bytea[], bytea, timestamp with time zone, integer[], integer[]) as
  insert into payments (client_key, id, account_id, sequence, version, document_hash, text, accepted_at, changed_at)
  select client_key, id, account_id, sequence, version, document_hash, convert_from(substring($7::bytea from start for length), 'UTF8'),
  $8::timestamptz, $8
  from unnest((select $1::int[])::int[], $2::uuid[], $3::uuid[], $4::int[], $5::bigint[], $6::bytea[],
    $9::int[], $10::int[])
  as g (client_key, id, account_id, sequence, version, document_hash, start, length);

-- save-new.saveOne: kept as save-new-one, hot path
prepare "save-new.saveOne" (integer, uuid, uuid, uuid, integer, text, text, bytea, integer, timestamp with time zone, uuid[], uuid[], smallint[], text[]) as
  with happened as (
    insert into events (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
      document_bytes, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  )
  insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, shard,
    created_at, next_attempt_at, document_mode)
  select $1, id, $2, endpoint_id, $3, $4, $5, $6, shard, $10, $10, document_mode
  from unnest((select $11::uuid[])::uuid[], $12::uuid[], $13::smallint[], $14::text[])
  as d (id, endpoint_id, shard, document_mode);

-- save-new.saveOne 2: kept as save-new-one-with-payment, hot path
prepare "save-new.saveOne 2" (integer, uuid, uuid, uuid, integer, text, text, bytea, integer, timestamp with time zone, uuid[], uuid[], smallint[], text[], bigint) as
  with happened as (
    insert into events (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
      document_bytes, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  ), paid as (
    insert into payments (client_key, id, account_id, sequence, version, document_hash, text, accepted_at, changed_at)
    values ($1, $3, $4, $5, $15, $8, $7, $10, $10))
  insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, shard,
    created_at, next_attempt_at, document_mode)
  select $1, id, $2, endpoint_id, $3, $4, $5, $6, shard, $10, $10, document_mode
  from unnest((select $11::uuid[])::uuid[], $12::uuid[], $13::smallint[], $14::text[])
  as d (id, endpoint_id, shard, document_mode);
