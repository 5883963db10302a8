-- The statements of server/store/endpoints/earlier-addresses.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- earlier-addresses.findEarlierAddress: kept as find-earlier-address
prepare "earlier-addresses.findEarlierAddress" (integer, uuid, timestamp with time zone) as
  select url from earlier_addresses
  where client_key = $1 and endpoint_id = $2 and until > $3 order by until limit 1;
--   always
--     Limit
--       Index Scan earlier_addresses by earlier_addresses_pkey (client_key, endpoint_id, until)
