-- What people do to deliveries: replay, recover, cancel; one by one, or all that match a filter.

-- An attempt that may have been under way when its delivery was cancelled is counted here, though its
-- outcome is not known. A replay counts on from it: what that attempt still has to say can then never
-- be taken for the outcome of the replay's own. Null where nothing can have been under way.
alter table final_deliveries add column attempts_begun integer;

-- Deliveries were taken away from an endpoint (cancelled). Its owner, in whichever process, drops what
-- it holds in memory and reads what is still owed; it asks once a second, as for changed_at. Apart from
-- that one, because a cancellation must not give a failing endpoint its 7 days anew.
alter table endpoints add column deliveries_changed_at timestamptz;
create index endpoints_by_changed_deliveries on endpoints (deliveries_changed_at)
  where deliveries_changed_at is not null;

-- What was asked for in bulk. The answer tells the number, and this row holds to it: the work goes on
-- in chunks, and if the process dies that does it, another one takes it over.
create table jobs (
  id uuid primary key,
  kind text not null,
  state text not null default 'RUNNING',
  total integer not null,
  -- Items dealt with; those among them that had moved on by themselves before their turn came.
  done integer not null default 0,
  passed_over integer not null default 0,
  runner uuid,
  -- Until then it is its runner's; afterwards anybody's.
  held_until timestamptz not null default '-infinity',
  failures integer not null default 0,
  started_at timestamptz not null,
  finished_at timestamptz,
  constraint job_kind_is_known check (kind in ('replay', 'recover', 'cancel')),
  constraint job_state_is_known check (state in ('RUNNING', 'DONE', 'FAILED')),
  constraint a_running_job_is_not_finished check ((state = 'RUNNING') = (finished_at is null)),
  constraint job_is_done_in_parts check (done between 0 and total and passed_over between 0 and done)
) with (fillfactor = 50);
create index jobs_running on jobs (id) where state = 'RUNNING';
create index jobs_finished on jobs (finished_at) where finished_at is not null;

-- What a job still has to do, in the order in which it is done. A delivery is in one job at a time, so
-- that two that were asked for at once do not both count it.
create table job_items (
  client_key integer not null,
  delivery_id uuid not null,
  job_id uuid not null,
  place integer not null,
  endpoint_id uuid not null,
  -- Where a final delivery lies; null for a pending one.
  finished_at timestamptz,
  primary key (client_key, delivery_id)
);
create unique index job_items_in_order on job_items (job_id, place);
