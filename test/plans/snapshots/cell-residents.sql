-- The statements of server/store/moves/cell-residents.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- cell-residents.readCellResidents: kept as read-cell-residents
prepare "cell-residents.readCellResidents" (text, uuid, bigint) as
  with gone as materialized (select client_key from client_moves where state = 'MOVED')
  (select 'client' as kind, id from clients
    where id >= $2 and substr(id::text, 21, 3) <> $1
    and client_key not in (select client_key from gone)
    order by id limit $3)
  union all
  (select 'account', id from accounts
    where id >= $2 and substr(id::text, 21, 3) <> $1
    and client_key not in (select client_key from gone)
    order by id limit $3);
--   always
--     Append
--       CTE gone: Seq Scan client_moves filter (state)
--       Limit
--         Index Scan clients by client_id_is_unique (id) filter (client_key, id)
--           SubPlan 2: CTE Scan gone
--       Limit
--         Index Scan accounts by accounts_by_id (id) filter (client_key, id)
--           SubPlan 3: CTE Scan gone

-- cell-residents.readStampedSince: planned each time
prepare "cell-residents.readStampedSince" (text) as
  select run_on at time zone 'UTC' as since from migrations where name = $1;
--   always
--     Seq Scan migrations filter (name)
