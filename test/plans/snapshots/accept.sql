-- The statements of server/store/accept.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- accept.saveChangesAndFanOut: kept as save-changes-and-fan-out, hot path
prepare "accept.saveChangesAndFanOut" (integer[], uuid[], uuid[], uuid[], integer[], text[], bytea, timestamp with time zone, bytea[], integer[], integer[], integer[], bigint[], boolean[]) as
  with given as materialized (
    select client_key, id, payment_id, account_id, sequence, kind, document_hash,
    document_bytes, version, is_latest, convert_from(substring($7::bytea from start for length), 'UTF8') as text
    from unnest((select $1::int[])::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::int[], $6::text[],
      $9::bytea[], $10::int[], $11::int[], $12::int[], $13::bigint[], $14::boolean[])
    as g (client_key, id, payment_id, account_id, sequence, kind, document_hash,
      document_bytes, start, length, version, is_latest)
  ), paid as (
    insert into payments
    (client_key, id, account_id, sequence, version, text, document_hash, accepted_at,
      changed_at)
    select client_key, payment_id, account_id, sequence, version, text, document_hash,
    $8::timestamptz, $8::timestamptz
    from given where is_latest
    on conflict (id, client_key) do update set
    sequence = excluded.sequence, version = excluded.version, text = excluded.text,
    document_hash = excluded.document_hash, changed_at = excluded.changed_at
  ), happened as (
    insert into events
    (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
      document_bytes, created_at)
    select client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
    document_bytes, $8::timestamptz
    from given
  ), owed as (
    insert into pending_deliveries
    (client_key, id, event_id, endpoint_id, payment_id, account_id, sequence, kind, shard,
      created_at, next_attempt_at)
    select g.client_key,
    (left(g.id::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
    g.id, e.id, g.payment_id, g.account_id, g.sequence, g.kind, e.shard, $8, $8
    from given g cross join lateral (
      -- From each change to its endpoints: offset 0 keeps the planner from reading all
      -- endpoints instead, as it does while it knows nothing of them.
      select e.id, e.shard from endpoints e
      where e.client_key = g.client_key and e.deleted_at is null
      and e.scope in (g.account_id, '00000000-0000-0000-0000-000000000000') offset 0) as e
    returning client_key, id, event_id, endpoint_id, payment_id, sequence, shard
  )
  select o.id, o.event_id, o.endpoint_id, o.shard,
  -- Not `exists`, which may read all that is owed into a table of its own.
  o.sequence > 1 and (
    select true from pending_deliveries p
    where p.client_key = o.client_key and p.endpoint_id = o.endpoint_id
    and p.payment_id = o.payment_id limit 1) is not null as has_elders
  from owed o;
--   for any values: empty, never analyzed; empty, analyzed
--     CTE Scan owed
--       CTE given: Function Scan
--         InitPlan 1: Result
--       CTE paid: Insert payments
--         CTE Scan given
--       CTE happened: Insert events
--         CTE Scan given
--       CTE owed: Insert pending_deliveries
--         Subquery Scan
--           Nested Loop
--             CTE Scan given
--             Index Scan endpoints by one_endpoint_per_address (client_key, scope)
--       SubPlan 6: Limit
--         Index Scan pending_deliveries by deliveries_of_strand (endpoint_id, payment_id) filter (client_key)
--   for any values: empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed
--   for values given: full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed
--     CTE Scan owed
--       CTE given: Function Scan
--         InitPlan 1: Result
--       CTE paid: Insert payments
--         CTE Scan given
--       CTE happened: Insert events
--         CTE Scan given
--       CTE owed: Insert pending_deliveries
--         Subquery Scan
--           Nested Loop
--             CTE Scan given
--             Index Scan endpoints by endpoints_pkey (client_key) filter (deleted_at, scope)
--       SubPlan 6: Limit
--         Index Scan pending_deliveries by deliveries_of_strand (endpoint_id, payment_id) filter (client_key)
