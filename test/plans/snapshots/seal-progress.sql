-- The statements of server/store/proofs/seal-progress.ts, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- seal-progress.readSealProgress: kept as read-seal-progress
prepare "seal-progress.readSealProgress" as
  select sealed_through, head_told_at, verified_at, verified_from, verified_to, verdict, finding
  from audit_seal_progress;

-- seal-progress.saveHeadTold: kept as save-head-told
prepare "seal-progress.saveHeadTold" (timestamp with time zone) as
  update audit_seal_progress set head_told_at = $1;

-- seal-progress.saveSealedThrough: kept as save-sealed-through
prepare "seal-progress.saveSealedThrough" (timestamp with time zone) as
  update audit_seal_progress set sealed_through = $1;

-- seal-progress.saveVerification: kept as save-verification
prepare "seal-progress.saveVerification" (timestamp with time zone, bigint, bigint, text, text) as
  update audit_seal_progress
  set verified_at = $1, verified_from = $2, verified_to = $3, verdict = $4, finding = $5;
