-- The statements of server/store/statement-counts.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- statement-counts.countDelivered: planned each time, with enable_seqscan = on
prepare "statement-counts.countDelivered" (integer, uuid, uuid, uuid, uuid[]) as
  select hour, count(*) as count, array[sum(get_byte(hash, 0)), sum(get_byte(hash, 1)), sum(get_byte(hash, 2)), sum(get_byte(hash, 3)), sum(get_byte(hash, 4)), sum(get_byte(hash, 5)), sum(get_byte(hash, 6)), sum(get_byte(hash, 7)), sum(get_byte(hash, 8)), sum(get_byte(hash, 9)), sum(get_byte(hash, 10)), sum(get_byte(hash, 11)), sum(get_byte(hash, 12)), sum(get_byte(hash, 13)), sum(get_byte(hash, 14)), sum(get_byte(hash, 15)), sum(get_byte(hash, 16)), sum(get_byte(hash, 17)), sum(get_byte(hash, 18)), sum(get_byte(hash, 19)), sum(get_byte(hash, 20)), sum(get_byte(hash, 21)), sum(get_byte(hash, 22)), sum(get_byte(hash, 23)), sum(get_byte(hash, 24)), sum(get_byte(hash, 25)), sum(get_byte(hash, 26)), sum(get_byte(hash, 27)), sum(get_byte(hash, 28)), sum(get_byte(hash, 29)), sum(get_byte(hash, 30)), sum(get_byte(hash, 31))]::float8[] as sums
  from (select width_bucket(d.id, $5::uuid[]) as hour, sha256(convert_to(d.event_id::text, 'UTF8')) as hash
    from final_deliveries d
    where d.client_key = $1 and d.endpoint_id = $2 and d.id >= $3 and d.id < $4 and d.state = 'DELIVERED' and d.finished_at >= timestamptz '2026-03-06T13:00:00.000Z'
    offset 0) as delivered
  group by 1;
--   for values given: full, never analyzed
--     Aggregate
--       Sort on (width_bucket(d.id, '{019cc862-2080-0000-0000-000000000000,019cc899-0f00-0000-0000-000000000000,019cc8cf-fd80-0000-0000-000000000000,019cc906-ec00-0000-0000-000000000000,019cc93d-da80-0000-0000-000000000000,019cc974-c900-0000-0000-000000000000,019cc9ab-b780-0000-0000-000000000000,019cc9e2-a600-0000-0000-000000000000,019cca19-9480-0000-0000-000000000000,019cca50-8300-0000-0000-000000000000,019cca87-7180-0000-0000-000000000000,019ccabe-6000-0000-0000-000000000000,019ccaf5-4e80-0000-0000-000000000000,019ccb2c-3d00-0000-0000-000000000000,019ccb63-2b80-0000-0000-000000000000,019ccb9a-1a00-0000-0000-000000000000,019ccbd1-0880-0000-0000-000000000000,019ccc07-f700-0000-0000-000000000000,019ccc3e-e580-0000-0000-000000000000,019ccc75-d400-0000-0000-000000000000,019cccac-c280-0000-0000-000000000000,019ccce3-b100-0000-0000-000000000000,019ccd1a-9f80-0000-0000-000000000000,019ccd51-8e00-0000-0000-000000000000,019ccd88-7c80-0000-0000-000000000000,019ccdbf-6b00-0000-0000-000000000000,019ccdf6-5980-0000-0000-000000000000,019cce2d-4800-0000-0000-000000000000,019cce64-3680-0000-0000-000000000000,019cce9b-2500-0000-0000-000000000000,019cced2-1380-0000-0000-000000000000,019ccf09-0200-0000-0000-000000000000,019ccf3f-f080-0000-0000-000000000000,019ccf76-df00-0000-0000-000000000000,019ccfad-cd80-0000-0000-000000000000,019ccfe4-bc00-0000-0000-000000000000,019cd01b-aa80-0000-0000-000000000000,019cd052-9900-0000-0000-000000000000,019cd089-8780-0000-0000-000000000000,019cd0c0-7600-0000-0000-000000000000,019cd0f7-6480-0000-0000-000000000000,019cd12e-5300-0000-0000-000000000000,019cd165-4180-0000-0000-000000000000,019cd19c-3000-0000-0000-000000000000,019cd1d3-1e80-0000-0000-000000000000,019cd20a-0d00-0000-0000-000000000000,019cd240-fb80-0000-0000-000000000000,019cd277-ea00-0000-0000-000000000000,019cd2ae-d880-0000-0000-000000000000,019cd2e5-c700-0000-0000-000000000000,019cd31c-b580-0000-0000-000000000000,019cd353-a400-0000-0000-000000000000,019cd38a-9280-0000-0000-000000000000,019cd3c1-8100-0000-0000-000000000000,019cd3f8-6f80-0000-0000-000000000000,019cd42f-5e00-0000-0000-000000000000,019cd466-4c80-0000-0000-000000000000,019cd49d-3b00-0000-0000-000000000000,019cd4d4-2980-0000-0000-000000000000,019cd50b-1800-0000-0000-000000000000,019cd542-0680-0000-0000-000000000000,019cd578-f500-0000-0000-000000000000,019cd5af-e380-0000-0000-000000000000,019cd5e6-d200-0000-0000-000000000000,019cd61d-c080-0000-0000-000000000000,019cd654-af00-0000-0000-000000000000,019cd68b-9d80-0000-0000-000000000000,019cd6c2-8c00-0000-0000-000000000000,019cd6f9-7a80-0000-0000-000000000000,019cd730-6900-0000-0000-000000000000,019cd767-5780-0000-0000-000000000000,019cd79e-4600-0000-0000-000000000000}'::uuid[]))
--         Append
--           Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id, id) filter (finished_at, state)
--           … 4 alike
--           Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, endpoint_id, state)
--           … 6 alike
--   for values given: full, analyzed
--     Aggregate
--       Append
--         Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, endpoint_id, state)
--         Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id, id) filter (finished_at, state)
--         … 4 alike
--         Seq Scan final_deliveries_<day> filter (id, finished_at, client_key, endpoint_id, state)
--         … 5 alike
--   for values given: full, analyzed when empty
--     Aggregate
--       Append
--         Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id, id) filter (finished_at, state)
--         … 4 alike
--         Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, endpoint_id, state)
--         Seq Scan final_deliveries_<day> filter (id, finished_at, client_key, endpoint_id, state)
--         … 5 alike
--   for values given: full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Aggregate
--       Append
--         Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, endpoint_id, state)
--         Index Scan final_deliveries_<day> by final_deliveries_of_endpoint (client_key, endpoint_id, id) filter (finished_at, state)
--         … 3 alike
--         Index Scan final_deliveries_<day> by final_deliveries_newest (id) filter (finished_at, client_key, endpoint_id, state)
--         Seq Scan final_deliveries_<day> filter (id, finished_at, client_key, endpoint_id, state)
--         … 5 alike

-- statement-counts.countLost: planned each time, with enable_seqscan = on
prepare "statement-counts.countLost" (integer, uuid, uuid, uuid, uuid[]) as
  select width_bucket(d.id, $5::uuid[]) as hour, d.state, count(*) as count, max(d.finished_at) as last
  from final_deliveries d
  where d.client_key = $1 and d.endpoint_id = $2 and d.id >= $3 and d.id < $4 and d.state <> 'DELIVERED' and d.finished_at >= timestamptz '2026-03-06T13:00:00.000Z'
  group by 1, 2;
--   for values given: full, never analyzed
--     Aggregate
--       Sort on (width_bucket(d.id, '{019cc862-2080-0000-0000-000000000000,019cc899-0f00-0000-0000-000000000000,019cc8cf-fd80-0000-0000-000000000000,019cc906-ec00-0000-0000-000000000000,019cc93d-da80-0000-0000-000000000000,019cc974-c900-0000-0000-000000000000,019cc9ab-b780-0000-0000-000000000000,019cc9e2-a600-0000-0000-000000000000,019cca19-9480-0000-0000-000000000000,019cca50-8300-0000-0000-000000000000,019cca87-7180-0000-0000-000000000000,019ccabe-6000-0000-0000-000000000000,019ccaf5-4e80-0000-0000-000000000000,019ccb2c-3d00-0000-0000-000000000000,019ccb63-2b80-0000-0000-000000000000,019ccb9a-1a00-0000-0000-000000000000,019ccbd1-0880-0000-0000-000000000000,019ccc07-f700-0000-0000-000000000000,019ccc3e-e580-0000-0000-000000000000,019ccc75-d400-0000-0000-000000000000,019cccac-c280-0000-0000-000000000000,019ccce3-b100-0000-0000-000000000000,019ccd1a-9f80-0000-0000-000000000000,019ccd51-8e00-0000-0000-000000000000,019ccd88-7c80-0000-0000-000000000000,019ccdbf-6b00-0000-0000-000000000000,019ccdf6-5980-0000-0000-000000000000,019cce2d-4800-0000-0000-000000000000,019cce64-3680-0000-0000-000000000000,019cce9b-2500-0000-0000-000000000000,019cced2-1380-0000-0000-000000000000,019ccf09-0200-0000-0000-000000000000,019ccf3f-f080-0000-0000-000000000000,019ccf76-df00-0000-0000-000000000000,019ccfad-cd80-0000-0000-000000000000,019ccfe4-bc00-0000-0000-000000000000,019cd01b-aa80-0000-0000-000000000000,019cd052-9900-0000-0000-000000000000,019cd089-8780-0000-0000-000000000000,019cd0c0-7600-0000-0000-000000000000,019cd0f7-6480-0000-0000-000000000000,019cd12e-5300-0000-0000-000000000000,019cd165-4180-0000-0000-000000000000,019cd19c-3000-0000-0000-000000000000,019cd1d3-1e80-0000-0000-000000000000,019cd20a-0d00-0000-0000-000000000000,019cd240-fb80-0000-0000-000000000000,019cd277-ea00-0000-0000-000000000000,019cd2ae-d880-0000-0000-000000000000,019cd2e5-c700-0000-0000-000000000000,019cd31c-b580-0000-0000-000000000000,019cd353-a400-0000-0000-000000000000,019cd38a-9280-0000-0000-000000000000,019cd3c1-8100-0000-0000-000000000000,019cd3f8-6f80-0000-0000-000000000000,019cd42f-5e00-0000-0000-000000000000,019cd466-4c80-0000-0000-000000000000,019cd49d-3b00-0000-0000-000000000000,019cd4d4-2980-0000-0000-000000000000,019cd50b-1800-0000-0000-000000000000,019cd542-0680-0000-0000-000000000000,019cd578-f500-0000-0000-000000000000,019cd5af-e380-0000-0000-000000000000,019cd5e6-d200-0000-0000-000000000000,019cd61d-c080-0000-0000-000000000000,019cd654-af00-0000-0000-000000000000,019cd68b-9d80-0000-0000-000000000000,019cd6c2-8c00-0000-0000-000000000000,019cd6f9-7a80-0000-0000-000000000000,019cd730-6900-0000-0000-000000000000,019cd767-5780-0000-0000-000000000000,019cd79e-4600-0000-0000-000000000000}'::uuid[])), d.state
--         Append
--           Index Scan final_deliveries_<day> by undelivered_of_endpoint (client_key, endpoint_id, id) filter (finished_at)
--           … 10 alike
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Aggregate
--       Append
--         Index Scan final_deliveries_<day> by undelivered_of_endpoint (client_key, endpoint_id, id) filter (finished_at)
--         … 5 alike
--         Seq Scan final_deliveries_<day> filter (id, state, finished_at, client_key, endpoint_id)
--         … 5 alike

-- statement-counts.countPending: planned each time, with enable_seqscan = on
prepare "statement-counts.countPending" (integer, uuid, uuid, uuid, uuid[]) as
  select width_bucket(d.id, $5::uuid[]) as hour, count(*) as count from pending_deliveries d
  where d.client_key = $1 and d.endpoint_id = $2 and d.id >= $3 and d.id < $4 group by 1;
--   for values given: full, never analyzed
--     Aggregate
--       Sort on (width_bucket(id, '{019cc862-2080-0000-0000-000000000000,019cc899-0f00-0000-0000-000000000000,019cc8cf-fd80-0000-0000-000000000000,019cc906-ec00-0000-0000-000000000000,019cc93d-da80-0000-0000-000000000000,019cc974-c900-0000-0000-000000000000,019cc9ab-b780-0000-0000-000000000000,019cc9e2-a600-0000-0000-000000000000,019cca19-9480-0000-0000-000000000000,019cca50-8300-0000-0000-000000000000,019cca87-7180-0000-0000-000000000000,019ccabe-6000-0000-0000-000000000000,019ccaf5-4e80-0000-0000-000000000000,019ccb2c-3d00-0000-0000-000000000000,019ccb63-2b80-0000-0000-000000000000,019ccb9a-1a00-0000-0000-000000000000,019ccbd1-0880-0000-0000-000000000000,019ccc07-f700-0000-0000-000000000000,019ccc3e-e580-0000-0000-000000000000,019ccc75-d400-0000-0000-000000000000,019cccac-c280-0000-0000-000000000000,019ccce3-b100-0000-0000-000000000000,019ccd1a-9f80-0000-0000-000000000000,019ccd51-8e00-0000-0000-000000000000,019ccd88-7c80-0000-0000-000000000000,019ccdbf-6b00-0000-0000-000000000000,019ccdf6-5980-0000-0000-000000000000,019cce2d-4800-0000-0000-000000000000,019cce64-3680-0000-0000-000000000000,019cce9b-2500-0000-0000-000000000000,019cced2-1380-0000-0000-000000000000,019ccf09-0200-0000-0000-000000000000,019ccf3f-f080-0000-0000-000000000000,019ccf76-df00-0000-0000-000000000000,019ccfad-cd80-0000-0000-000000000000,019ccfe4-bc00-0000-0000-000000000000,019cd01b-aa80-0000-0000-000000000000,019cd052-9900-0000-0000-000000000000,019cd089-8780-0000-0000-000000000000,019cd0c0-7600-0000-0000-000000000000,019cd0f7-6480-0000-0000-000000000000,019cd12e-5300-0000-0000-000000000000,019cd165-4180-0000-0000-000000000000,019cd19c-3000-0000-0000-000000000000,019cd1d3-1e80-0000-0000-000000000000,019cd20a-0d00-0000-0000-000000000000,019cd240-fb80-0000-0000-000000000000,019cd277-ea00-0000-0000-000000000000,019cd2ae-d880-0000-0000-000000000000,019cd2e5-c700-0000-0000-000000000000,019cd31c-b580-0000-0000-000000000000,019cd353-a400-0000-0000-000000000000,019cd38a-9280-0000-0000-000000000000,019cd3c1-8100-0000-0000-000000000000,019cd3f8-6f80-0000-0000-000000000000,019cd42f-5e00-0000-0000-000000000000,019cd466-4c80-0000-0000-000000000000,019cd49d-3b00-0000-0000-000000000000,019cd4d4-2980-0000-0000-000000000000,019cd50b-1800-0000-0000-000000000000,019cd542-0680-0000-0000-000000000000,019cd578-f500-0000-0000-000000000000,019cd5af-e380-0000-0000-000000000000,019cd5e6-d200-0000-0000-000000000000,019cd61d-c080-0000-0000-000000000000,019cd654-af00-0000-0000-000000000000,019cd68b-9d80-0000-0000-000000000000,019cd6c2-8c00-0000-0000-000000000000,019cd6f9-7a80-0000-0000-000000000000,019cd730-6900-0000-0000-000000000000,019cd767-5780-0000-0000-000000000000,019cd79e-4600-0000-0000-000000000000}'::uuid[]))
--         Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (endpoint_id)
--   for values given: full, analyzed
--     Aggregate
--       Sort on (width_bucket(id, '{019cc862-2080-0000-0000-000000000000,019cc899-0f00-0000-0000-000000000000,019cc8cf-fd80-0000-0000-000000000000,019cc906-ec00-0000-0000-000000000000,019cc93d-da80-0000-0000-000000000000,019cc974-c900-0000-0000-000000000000,019cc9ab-b780-0000-0000-000000000000,019cc9e2-a600-0000-0000-000000000000,019cca19-9480-0000-0000-000000000000,019cca50-8300-0000-0000-000000000000,019cca87-7180-0000-0000-000000000000,019ccabe-6000-0000-0000-000000000000,019ccaf5-4e80-0000-0000-000000000000,019ccb2c-3d00-0000-0000-000000000000,019ccb63-2b80-0000-0000-000000000000,019ccb9a-1a00-0000-0000-000000000000,019ccbd1-0880-0000-0000-000000000000,019ccc07-f700-0000-0000-000000000000,019ccc3e-e580-0000-0000-000000000000,019ccc75-d400-0000-0000-000000000000,019cccac-c280-0000-0000-000000000000,019ccce3-b100-0000-0000-000000000000,019ccd1a-9f80-0000-0000-000000000000,019ccd51-8e00-0000-0000-000000000000,019ccd88-7c80-0000-0000-000000000000,019ccdbf-6b00-0000-0000-000000000000,019ccdf6-5980-0000-0000-000000000000,019cce2d-4800-0000-0000-000000000000,019cce64-3680-0000-0000-000000000000,019cce9b-2500-0000-0000-000000000000,019cced2-1380-0000-0000-000000000000,019ccf09-0200-0000-0000-000000000000,019ccf3f-f080-0000-0000-000000000000,019ccf76-df00-0000-0000-000000000000,019ccfad-cd80-0000-0000-000000000000,019ccfe4-bc00-0000-0000-000000000000,019cd01b-aa80-0000-0000-000000000000,019cd052-9900-0000-0000-000000000000,019cd089-8780-0000-0000-000000000000,019cd0c0-7600-0000-0000-000000000000,019cd0f7-6480-0000-0000-000000000000,019cd12e-5300-0000-0000-000000000000,019cd165-4180-0000-0000-000000000000,019cd19c-3000-0000-0000-000000000000,019cd1d3-1e80-0000-0000-000000000000,019cd20a-0d00-0000-0000-000000000000,019cd240-fb80-0000-0000-000000000000,019cd277-ea00-0000-0000-000000000000,019cd2ae-d880-0000-0000-000000000000,019cd2e5-c700-0000-0000-000000000000,019cd31c-b580-0000-0000-000000000000,019cd353-a400-0000-0000-000000000000,019cd38a-9280-0000-0000-000000000000,019cd3c1-8100-0000-0000-000000000000,019cd3f8-6f80-0000-0000-000000000000,019cd42f-5e00-0000-0000-000000000000,019cd466-4c80-0000-0000-000000000000,019cd49d-3b00-0000-0000-000000000000,019cd4d4-2980-0000-0000-000000000000,019cd50b-1800-0000-0000-000000000000,019cd542-0680-0000-0000-000000000000,019cd578-f500-0000-0000-000000000000,019cd5af-e380-0000-0000-000000000000,019cd5e6-d200-0000-0000-000000000000,019cd61d-c080-0000-0000-000000000000,019cd654-af00-0000-0000-000000000000,019cd68b-9d80-0000-0000-000000000000,019cd6c2-8c00-0000-0000-000000000000,019cd6f9-7a80-0000-0000-000000000000,019cd730-6900-0000-0000-000000000000,019cd767-5780-0000-0000-000000000000,019cd79e-4600-0000-0000-000000000000}'::uuid[]))
--         Bitmap Heap Scan pending_deliveries
--           BitmapAnd pending_deliveries
--             Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--             Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Aggregate
--       Sort on (width_bucket(id, '{019cc862-2080-0000-0000-000000000000,019cc899-0f00-0000-0000-000000000000,019cc8cf-fd80-0000-0000-000000000000,019cc906-ec00-0000-0000-000000000000,019cc93d-da80-0000-0000-000000000000,019cc974-c900-0000-0000-000000000000,019cc9ab-b780-0000-0000-000000000000,019cc9e2-a600-0000-0000-000000000000,019cca19-9480-0000-0000-000000000000,019cca50-8300-0000-0000-000000000000,019cca87-7180-0000-0000-000000000000,019ccabe-6000-0000-0000-000000000000,019ccaf5-4e80-0000-0000-000000000000,019ccb2c-3d00-0000-0000-000000000000,019ccb63-2b80-0000-0000-000000000000,019ccb9a-1a00-0000-0000-000000000000,019ccbd1-0880-0000-0000-000000000000,019ccc07-f700-0000-0000-000000000000,019ccc3e-e580-0000-0000-000000000000,019ccc75-d400-0000-0000-000000000000,019cccac-c280-0000-0000-000000000000,019ccce3-b100-0000-0000-000000000000,019ccd1a-9f80-0000-0000-000000000000,019ccd51-8e00-0000-0000-000000000000,019ccd88-7c80-0000-0000-000000000000,019ccdbf-6b00-0000-0000-000000000000,019ccdf6-5980-0000-0000-000000000000,019cce2d-4800-0000-0000-000000000000,019cce64-3680-0000-0000-000000000000,019cce9b-2500-0000-0000-000000000000,019cced2-1380-0000-0000-000000000000,019ccf09-0200-0000-0000-000000000000,019ccf3f-f080-0000-0000-000000000000,019ccf76-df00-0000-0000-000000000000,019ccfad-cd80-0000-0000-000000000000,019ccfe4-bc00-0000-0000-000000000000,019cd01b-aa80-0000-0000-000000000000,019cd052-9900-0000-0000-000000000000,019cd089-8780-0000-0000-000000000000,019cd0c0-7600-0000-0000-000000000000,019cd0f7-6480-0000-0000-000000000000,019cd12e-5300-0000-0000-000000000000,019cd165-4180-0000-0000-000000000000,019cd19c-3000-0000-0000-000000000000,019cd1d3-1e80-0000-0000-000000000000,019cd20a-0d00-0000-0000-000000000000,019cd240-fb80-0000-0000-000000000000,019cd277-ea00-0000-0000-000000000000,019cd2ae-d880-0000-0000-000000000000,019cd2e5-c700-0000-0000-000000000000,019cd31c-b580-0000-0000-000000000000,019cd353-a400-0000-0000-000000000000,019cd38a-9280-0000-0000-000000000000,019cd3c1-8100-0000-0000-000000000000,019cd3f8-6f80-0000-0000-000000000000,019cd42f-5e00-0000-0000-000000000000,019cd466-4c80-0000-0000-000000000000,019cd49d-3b00-0000-0000-000000000000,019cd4d4-2980-0000-0000-000000000000,019cd50b-1800-0000-0000-000000000000,019cd542-0680-0000-0000-000000000000,019cd578-f500-0000-0000-000000000000,019cd5af-e380-0000-0000-000000000000,019cd5e6-d200-0000-0000-000000000000,019cd61d-c080-0000-0000-000000000000,019cd654-af00-0000-0000-000000000000,019cd68b-9d80-0000-0000-000000000000,019cd6c2-8c00-0000-0000-000000000000,019cd6f9-7a80-0000-0000-000000000000,019cd730-6900-0000-0000-000000000000,019cd767-5780-0000-0000-000000000000,019cd79e-4600-0000-0000-000000000000}'::uuid[]))
--         Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (id, client_key)

-- statement-counts.readLost: planned each time, with enable_seqscan = on
prepare "statement-counts.readLost" (integer, uuid, uuid, uuid) as
  select d.id, d.event_id, d.state from final_deliveries d
  cross join lateral (select from earlier_attempts a
    where a.client_key = d.client_key and a.delivery_id = d.id and a.outcome = 'answered'
    and a.status = 200 and a.at >= timestamptz '2026-03-06T13:00:00.000Z' limit 1) as answered
  where d.client_key = $1 and d.endpoint_id = $2 and d.id >= $3 and d.id < $4 and d.state <> 'DELIVERED'
  and d.finished_at >= timestamptz '2026-03-06T13:00:00.000Z';
--   for values given: full, never analyzed
--     Nested Loop
--       Append
--         Index Scan final_deliveries_<day> by undelivered_of_endpoint (client_key, endpoint_id, id) filter (finished_at)
--         … 10 alike
--       Limit
--         Append
--           Index Scan earlier_attempts_<day> by earlier_attempts_pkey (client_key, delivery_id, at) filter (outcome, status)
--           … 10 alike
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop
--       Append
--         Index Scan final_deliveries_<day> by undelivered_of_endpoint (client_key, endpoint_id, id) filter (finished_at)
--         … 5 alike
--         Seq Scan final_deliveries_<day> filter (id, state, finished_at, client_key, endpoint_id)
--         … 5 alike
--       Limit
--         Append
--           Index Scan earlier_attempts_<day> by earlier_attempts_pkey (client_key, delivery_id, at) filter (outcome, status)
--           … 5 alike
--           Seq Scan earlier_attempts_<day> filter (at, client_key, delivery_id, outcome, status)
--           … 5 alike

-- statement-counts.readReplayed: planned each time, with enable_seqscan = on
prepare "statement-counts.readReplayed" (integer, uuid, uuid, uuid) as
  select d.id, d.event_id, 'PENDING' as state from pending_deliveries d
  cross join lateral (select from earlier_attempts a
    where a.client_key = d.client_key and a.delivery_id = d.id and a.outcome = 'answered'
    and a.status = 200 and a.at >= timestamptz '2026-03-06T13:00:00.000Z' limit 1) as answered
  where d.client_key = $1 and d.endpoint_id = $2 and d.id >= $3 and d.id < $4 and d.is_replay;
--   for values given: full, never analyzed
--     Nested Loop
--       Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id) filter (is_replay, endpoint_id)
--       Limit
--         Append
--           Index Scan earlier_attempts_<day> by earlier_attempts_pkey (client_key, delivery_id, at) filter (outcome, status)
--           … 10 alike
--   for values given: full, analyzed
--     Nested Loop
--       Bitmap Heap Scan pending_deliveries filter (is_replay)
--         BitmapAnd pending_deliveries
--           Bitmap Index Scan pending_deliveries by deliveries_of_strand (endpoint_id)
--           Bitmap Index Scan pending_deliveries by pending_deliveries_pkey (client_key, id)
--       Limit
--         Append
--           Index Scan earlier_attempts_<day> by earlier_attempts_pkey (client_key, delivery_id, at) filter (outcome, status)
--           … 5 alike
--           Seq Scan earlier_attempts_<day> filter (at, client_key, delivery_id, outcome, status)
--           … 5 alike
--   for values given: full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Nested Loop
--       Index Scan pending_deliveries by deliveries_of_strand (endpoint_id) filter (is_replay, id, client_key)
--       Limit
--         Append
--           Index Scan earlier_attempts_<day> by earlier_attempts_pkey (client_key, delivery_id, at) filter (outcome, status)
--           … 5 alike
--           Seq Scan earlier_attempts_<day> filter (at, client_key, delivery_id, outcome, status)
--           … 5 alike
