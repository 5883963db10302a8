-- The statements of server/store/proofs/seal-progress.ts and their plans, without costs. Written by `npm run plans`;
-- a test compares them with what PostgreSQL 18 plans. All of a file can be pasted into psql:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;
-- and then, for a plan for any values: set plan_cache_mode = force_generic_plan;
--   explain execute "name"(null, null, …);

-- seal-progress.readSealProgress: kept as read-seal-progress
prepare "seal-progress.readSealProgress" as
  select sealed_through, head_told_at, verified_at, verified_from, verified_to, verdict, finding
  from audit_seal_progress;
--   always
--     Seq Scan audit_seal_progress

-- seal-progress.saveHeadTold: kept as save-head-told
prepare "seal-progress.saveHeadTold" (timestamp with time zone) as
  update audit_seal_progress set head_told_at = $1;
--   always
--     Update audit_seal_progress
--       Seq Scan audit_seal_progress

-- seal-progress.saveSealedThrough: kept as save-sealed-through
prepare "seal-progress.saveSealedThrough" (timestamp with time zone) as
  update audit_seal_progress set sealed_through = $1;
--   always
--     Update audit_seal_progress
--       Seq Scan audit_seal_progress

-- seal-progress.saveVerification: kept as save-verification
prepare "seal-progress.saveVerification" (timestamp with time zone, bigint, bigint, text, text) as
  update audit_seal_progress
  set verified_at = $1, verified_from = $2, verified_to = $3, verdict = $4, finding = $5;
--   always
--     Update audit_seal_progress
--       Seq Scan audit_seal_progress
