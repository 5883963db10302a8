-- The statements of server/store/payments/document-links.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- document-links.deleteOldDocumentLinks: planned each time
prepare "document-links.deleteOldDocumentLinks" (uuid, bigint) as
  delete from document_links where (client_key, event_id, endpoint_id) in (
    select client_key, event_id, endpoint_id from document_links
    where event_id < $1 order by event_id limit $2);
--   for values given: full, never analyzed
--     Delete document_links
--       Nested Loop
--         Aggregate
--           Subquery Scan
--             Limit
--               Index Scan document_links by document_links_by_age (event_id)
--         Index Scan document_links by document_links_pkey (client_key, event_id, endpoint_id)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Delete document_links
--       Nested Loop semi with a join filter
--         Index Scan document_links by document_links_by_age
--         Subquery Scan
--           Limit
--             Index Scan document_links by document_links_by_age (event_id)

-- document-links.findKeptLink: kept as find-kept-link
prepare "document-links.findKeptLink" (integer, uuid, uuid) as
  select url from document_links
  where client_key = $1 and event_id = $2 and endpoint_id = $3;
--   for any values: empty, never analyzed; full, never analyzed
--   for values given: full, never analyzed
--     Index Scan document_links by document_links_pkey (client_key, event_id, endpoint_id)
--   for any values: empty, analyzed; empty, analyzed when full; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Index Scan document_links by document_links_by_age (event_id) filter (client_key, endpoint_id)

-- document-links.keepLinks: kept as keep-links
prepare "document-links.keepLinks" (integer[], uuid[], uuid[], text[]) as
  with given as (
    select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::text[]) with ordinality
    as g (client_key, event_id, endpoint_id, url, place)
  ), made as (
    insert into document_links (client_key, event_id, endpoint_id, url)
    select client_key, event_id, endpoint_id, url from given where (select count(*) from feed_origin) >= 0
    on conflict do nothing
    returning client_key, event_id, endpoint_id, url
  )
  select coalesce(m.url, kept.url) as url from given g
  left join made m using (client_key, event_id, endpoint_id)
  left join lateral (
    select k.url from document_links k
    where k.client_key = g.client_key and k.event_id = g.event_id
    and k.endpoint_id = g.endpoint_id
    limit 1) as kept on true
  order by g.place;
--   for any values: empty, never analyzed; full, never analyzed
--     Sort on g.place
--       CTE given: Function Scan
--       CTE made: Insert document_links
--         InitPlan 2: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           CTE Scan given
--       Nested Loop left
--         Hash Join left
--           CTE Scan given
--           Hash
--             CTE Scan made
--         Limit
--           Index Scan document_links by document_links_pkey (client_key, event_id, endpoint_id)
--   for any values: empty, analyzed; empty, analyzed when full; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on g.place
--       CTE given: Function Scan
--       CTE made: Insert document_links
--         InitPlan 2: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           CTE Scan given
--       Nested Loop left
--         Hash Join left
--           CTE Scan given
--           Hash
--             CTE Scan made
--         Limit
--           Index Scan document_links by document_links_by_age (event_id) filter (client_key, endpoint_id)
--   for values given: full, never analyzed
--     Sort on g.place
--       CTE given: Function Scan
--       CTE made: Insert document_links
--         InitPlan 2: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           CTE Scan given
--       Nested Loop left
--         Nested Loop left with a join filter
--           CTE Scan given
--           CTE Scan made
--         Limit
--           Index Scan document_links by document_links_pkey (client_key, event_id, endpoint_id)
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Sort on g.place
--       CTE given: Function Scan
--       CTE made: Insert document_links
--         InitPlan 2: Aggregate
--           Index Only Scan feed_origin by feed_origin_pkey
--         Result
--           CTE Scan given
--       Nested Loop left
--         Nested Loop left with a join filter
--           CTE Scan given
--           CTE Scan made
--         Limit
--           Index Scan document_links by document_links_by_age (event_id) filter (client_key, endpoint_id)
