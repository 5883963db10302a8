-- The statements of server/store/save-new.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- save-new.saveNew: kept as save-new-one, hot path
prepare "save-new.saveNew" (integer, uuid, uuid, uuid, integer, text, text, timestamp with time zone, bytea, integer, bigint, boolean, uuid[], uuid[], smallint[], text[]) as
  with given (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
    document_bytes, version, is_new_payment) as (
    values ($1::int, $2::uuid, $3::uuid, $4::uuid, $5::int, $6::text, $7::text, $9::bytea,
      $10::int, $11::bigint, $12::boolean)), paid as (
    insert into payments
    (client_key, id, account_id, sequence, version, text, document_hash, accepted_at, changed_at)
    select client_key, payment_id, account_id, sequence, version, text, document_hash,
    $8::timestamptz, $8
    from given where is_new_payment
  ), happened as (
    insert into events
    (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
      document_bytes, created_at)
    select client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
    document_bytes, $8
    from given
  )
  insert into pending_deliveries
  (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, shard,
    created_at, next_attempt_at, document_mode)
  select g.client_key, d.id, g.id, d.endpoint_id, g.payment_id, g.account_id, g.sequence, g.kind,
  d.shard, $8, $8, d.document_mode
  from given g, unnest($13::uuid[], $14::uuid[], $15::smallint[], $16::text[])
  as d (id, endpoint_id, shard, document_mode);
--   always
--     Insert pending_deliveries
--       CTE given: Result
--       CTE paid: Insert payments
--         CTE Scan given
--       CTE happened: Insert events
--         CTE Scan given
--       Nested Loop
--         CTE Scan given
--         Function Scan

-- save-new.saveNew 2: kept as save-new, hot path
prepare "save-new.saveNew 2" (integer[], uuid[], uuid[], uuid[], integer[], text[], bytea, timestamp with time zone, bytea[], integer[], bigint[], boolean[], integer[], integer[], uuid[], integer[], uuid[], text[], smallint[], text[]) as
  with given as materialized (
    select client_key, id, payment_id, account_id, sequence, kind, document_hash,
    document_bytes, version, is_new_payment, convert_from(substring($7::bytea from start for length), 'UTF8') as text
    from unnest((select $1::int[])::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::int[], $6::text[],
      $9::bytea[], $10::int[], $11::bigint[], $12::boolean[], $13::int[], $14::int[])
    as g (client_key, id, payment_id, account_id, sequence, kind, document_hash,
      document_bytes, version, is_new_payment, start, length)), paid as (
    insert into payments
    (client_key, id, account_id, sequence, version, text, document_hash, accepted_at, changed_at)
    select client_key, payment_id, account_id, sequence, version, text, document_hash,
    $8::timestamptz, $8
    from given where is_new_payment
  ), happened as (
    insert into events
    (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
      document_bytes, created_at)
    select client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
    document_bytes, $8
    from given
  )
  insert into pending_deliveries
  (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, shard,
    created_at, next_attempt_at, document_mode)
  select ($1::int[])[event], id, ($2::uuid[])[event], endpoint_id, ($3::uuid[])[event],
  ($4::uuid[])[event], ($5::int[])[event], kind, shard, $8, $8, document_mode
  from unnest($15::uuid[], $16::int[], $17::uuid[], $18::text[], $19::smallint[], $20::text[])
  as d (id, event, endpoint_id, kind, shard, document_mode);
--   always
--     Insert pending_deliveries
--       CTE given: Function Scan
--         InitPlan 1: Result
--       CTE paid: Insert payments
--         CTE Scan given
--       CTE happened: Insert events
--         CTE Scan given
--       Function Scan
