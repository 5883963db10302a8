-- Retry now: what an endpoint is owed becomes due at once, and an open circuit is probed at once.

-- When the endpoint was last said to be mended: a retry was asked for, it was resumed, or a test of it was answered
-- 200. The owner of its shard, in whichever process, finds it through deliveries_changed_at or changed_at, which are
-- written with it, and lets the next attempt probe the endpoint. It has no index, so no write pays for one.
alter table endpoints add column retried_at timestamptz;

-- When the next attempt may probe an endpoint whose circuit is not closed. What waits for that is not due.
alter table endpoint_health add column next_probe_at timestamptz;

-- Endpoints whose circuit is not closed: few at any time, and looked for with every reading of the gauges. A
-- circuit opens and closes seldom, so hardly a write of health touches this index.
create index endpoints_with_open_circuit on endpoint_health (client_key, endpoint_id)
  where circuit <> 'CLOSED';

-- A bulk retry is a job as a bulk replay is. All rows conform already: the check is not run over them.
alter table jobs drop constraint job_kind_is_known;
alter table jobs add constraint job_kind_is_known
  check (kind in ('replay', 'recover', 'cancel', 'retry')) not valid;
alter table jobs validate constraint job_kind_is_known;
