-- The statements of server/store/proofs/audit-table.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- audit-table.insertAudit: kept as insert-audit
prepare "audit-table.insertAudit" (uuid[], timestamp with time zone[], text[], text[], text[], uuid[]) as
  insert into audit (id, at, actor, action, object, request_id)
  select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[],
    $6::uuid[]);
--   always
--     Insert audit
--       Function Scan

-- audit-table.insertAudit once: kept as insert-audit-once
prepare "audit-table.insertAudit once" (uuid[], timestamp with time zone[], text[], text[], text[], uuid[]) as
  insert into audit (id, at, actor, action, object, request_id)
  select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[],
    $6::uuid[])
  on conflict (id) do nothing;
--   always
--     Insert audit
--       Function Scan

-- audit-table.insertAuditWithChanges: planned each time
prepare "audit-table.insertAuditWithChanges" (uuid, timestamp with time zone, text, text, text, uuid, text) as
  insert into audit (id, at, actor, action, object, request_id, changes)
  values ($1, $2, $3, $4, $5, $6, $7);
--   always
--     Insert audit
--       Result

-- audit-table.listAudit by action: planned each time
prepare "audit-table.listAudit by action" (bigint, text, uuid) as
  select id, at, actor, action, object, request_id, changes, place::text from audit
  where action = $2 and id < $3::uuid and true
  order by id desc limit $1;
--   always
--     Limit
--       Index Scan audit_<day> by audit_of_acts (id) filter (action)

-- audit-table.listAudit by actor: planned each time
prepare "audit-table.listAudit by actor" (bigint, text, uuid) as
  select id, at, actor, action, object, request_id, changes, place::text from audit
  where actor = $2 and id < $3::uuid and true
  order by id desc limit $1;
--   always
--     Limit
--       Index Scan audit_<day> by audit_pkey (id) filter (actor)

-- audit-table.listAudit by object: planned each time
prepare "audit-table.listAudit by object" (bigint, text, uuid) as
  select id, at, actor, action, object, request_id, changes, place::text from audit
  where object = $2 and id < $3::uuid and true
  order by id desc limit $1;
--   always
--     Limit
--       Index Scan audit_<day> by audit_pkey (id) filter (object)

-- audit-table.listAudit of a time: planned each time
prepare "audit-table.listAudit of a time" (bigint, uuid, uuid, uuid) as
  select id, at, actor, action, object, request_id, changes, place::text from audit
  where id >= $2::uuid and id < $3::uuid and id < $4::uuid and true
  order by id desc limit $1;
--   always
--     Limit
--       Sort on id DESC
--         Result

-- audit-table.listAudit of all: planned each time
prepare "audit-table.listAudit of all" (bigint) as
  select id, at, actor, action, object, request_id, changes, place::text from audit
  where true
  order by id desc limit $1;
--   always
--     Limit
--       Merge Append on audit.id DESC
--         Index Scan audit_<day> by audit_pkey
--         … 5 alike

-- audit-table.listAudit without payments: planned each time
prepare "audit-table.listAudit without payments" (bigint, uuid) as
  select id, at, actor, action, object, request_id, changes, place::text from audit
  where id < $2::uuid and action not in ('payment.put', 'payment.batch') and true
  order by id desc limit $1;
--   always
--     Limit
--       Index Scan audit_<day> by audit_of_acts (id)
