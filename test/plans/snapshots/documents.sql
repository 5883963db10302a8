-- The statements of server/store/payments/documents.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- documents.deleteIfUnused: planned each time
prepare "documents.deleteIfUnused" (integer[], bytea[], timestamp with time zone[]) as
  delete from documents where ctid = any(array(
      select d.ctid
      from unnest($1::int[], $2::bytea[], $3::timestamptz[]) as u (client_key, hash, created_at)
      cross join lateral (
        select d.ctid from documents d
        where d.client_key = u.client_key and d.hash = u.hash and d.created_at = u.created_at
        and (select true from payments p
          where p.client_key = d.client_key and p.document_hash = d.hash limit 1) is null
        for update of d) as d));
--   always
--     Delete documents
--       InitPlan 2: Nested Loop
--         Function Scan
--         Subquery Scan
--           LockRows
--             Index Scan documents by documents_pkey (client_key, hash) filter (created_at)
--               SubPlan 1: Limit
--                 Index Only Scan payments by payments_with_document (client_key, document_hash)
--       Tid Scan documents

-- documents.findUnsaved: kept as find-fresh-documents, hot path
prepare "documents.findUnsaved" (integer[], bytea[], timestamp with time zone) as
  select d.client_key || ' ' || encode(d.hash, 'hex') as key
  from unnest((select $1::int[])::int[], $2::bytea[]) as given (client_key, hash)
  join documents d on d.client_key = given.client_key and d.hash = given.hash
  where d.created_at > $3
  -- It is not deleted before our transaction ends. One that is being deleted is saved again.
  for key share of d skip locked;
--   for any values: empty, never analyzed; empty, analyzed when full; full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--   for values given: full, never analyzed; full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     LockRows
--       InitPlan 1: Result
--       Nested Loop
--         Function Scan
--         Index Scan documents by documents_pkey (client_key, hash) filter (created_at)
--   for any values: empty, analyzed
--     LockRows
--       InitPlan 1: Result
--       Hash Join
--         Function Scan
--         Hash
--           Index Scan documents by documents_pkey filter (created_at)

-- documents.leaveOutNamedByEvents: planned each time
prepare "documents.leaveOutNamedByEvents" (integer[], bytea[], timestamp with time zone[]) as
  select u.client_key, u.hash, u.created_at::text
  from unnest($1::int[], $2::bytea[], $3::timestamptz[]) as u (client_key, hash, created_at)
  where (select true from events e where e.client_key = u.client_key
    and e.document_hash = u.hash and e.id >= uuid '019cb0fe-9400-0000-0000-000000000000' limit 1) is null;
--   for values given: full, never analyzed
--     Function Scan
--       SubPlan 1: Limit
--         Append
--           Index Scan events_<day> by events_with_document (client_key, document_hash) filter (id)
--           … 13 alike
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Function Scan
--       SubPlan 1: Limit
--         Append
--           Index Scan events_<day> by events_with_document (client_key, document_hash) filter (id)
--           … 8 alike
--           Index Scan events_<day> by events_in_feed_order (client_key, id) filter (document_hash)
--           … 5 alike

-- documents.leaveOutNamedByEvents 2: planned each time
prepare "documents.leaveOutNamedByEvents 2" (integer[], bytea[], timestamp with time zone[]) as
  select u.client_key, u.hash, u.created_at::text
  from unnest($1::int[], $2::bytea[], $3::timestamptz[]) as u (client_key, hash, created_at)
  where (select true from events e where e.client_key = u.client_key
    and e.document_hash = u.hash and e.id < uuid '019cb0fe-9400-0000-0000-000000000000' limit 1) is null;
--   for values given: full, never analyzed
--     Function Scan
--       SubPlan 1: Limit
--         Append
--           Index Scan events_<day> by events_with_document (client_key, document_hash) filter (id)
--           … 4 alike
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Function Scan
--       SubPlan 1: Limit
--         Append
--           Index Scan events_<day> by events_with_document (client_key, document_hash) filter (id)
--           … 3 alike
--           Index Scan events_<day> by events_in_feed_order (client_key, id) filter (document_hash)

-- documents.leaveOutNamedByEvents 3: planned each time
prepare "documents.leaveOutNamedByEvents 3" (integer[], bytea[], timestamp with time zone[]) as
  select u.client_key, u.hash, u.created_at::text
  from unnest($1::int[], $2::bytea[], $3::timestamptz[]) as u (client_key, hash, created_at)
  where (select true from events e where e.client_key = u.client_key
    and e.document_hash = u.hash and true limit 1) is null;
--   for values given: full, never analyzed
--     Function Scan
--       SubPlan 1: Limit
--         Append
--           Index Only Scan events_<day> by events_with_document (client_key, document_hash)
--           … 16 alike
--   for values given: full, analyzed; full, analyzed when empty; full, analyzed but for what is owed; full, analyzed, but of today there is nothing
--     Function Scan
--       SubPlan 1: Limit
--         Append
--           Index Only Scan events_<day> by events_with_document (client_key, document_hash)
--           … 11 alike
--           Index Scan events_<day> by events_in_feed_order (client_key) filter (document_hash)
--           … 5 alike

-- documents.readDocument: kept as read-document, hot path
prepare "documents.readDocument" (integer, bytea) as
  select content from documents where client_key = $1 and hash = $2;
--   always
--     Index Scan documents by documents_pkey (client_key, hash)

-- documents.readDocumentSize: kept as read-document-size, hot path
prepare "documents.readDocumentSize" (integer, bytea) as
  select octet_length(content) as characters,
  convert_from(substr(convert_to(content, 'UTF8'), octet_length(content) - 1, 2), 'UTF8') as end
  from documents where client_key = $1 and hash = $2;
--   always
--     Index Scan documents by documents_pkey (client_key, hash)

-- documents.readDocumentSize 2: kept as read-document-part, hot path
prepare "documents.readDocumentSize 2" (integer, bytea, integer, integer) as
  select convert_from(substr(convert_to(content, 'UTF8'), $3, $4), 'UTF8') as part from documents
  where client_key = $1 and hash = $2;
--   always
--     Index Scan documents by documents_pkey (client_key, hash)

-- documents.save: kept as save-document, hot path
prepare "documents.save" (integer, bytea, text, timestamp with time zone) as
  insert into documents (client_key, hash, content, created_at)
  values ($1, $2, $3, $4)
  -- Used again: renewed, so that retention does not take it away.
  on conflict (client_key, hash) do update set created_at = excluded.created_at;
--   always
--     Insert documents
--       Result
