-- What lists and counts are read by. History grows by ten thousand rows a second: an index here must be
-- cheap to write, or only hold what is rare.

-- The deliveries of a payment are found through its events instead (a delivery's id has the millisecond
-- of its event's id): payment ids are random, so every delivery dirtied another page of this index.
drop index final_deliveries_of_payment;
-- In its place: newest first across all clients, for the operator. Ids rise, so new entries go to the
-- right edge. The condition is always true; it keeps the planner from taking this index for a single
-- client's list, because only a statement that repeats the condition can use it.
create index final_deliveries_newest on final_deliveries (id) where finished_at > '-infinity';

-- The few that did not arrive, among the many that did.
create index undelivered on final_deliveries (state, id) where state <> 'DELIVERED';
create index undelivered_of_client on final_deliveries (client_key, state, id)
  where state <> 'DELIVERED';
create index undelivered_of_endpoint on final_deliveries (client_key, endpoint_id, state, id)
  where state <> 'DELIVERED';

-- The operator names an endpoint by its id alone.
create index endpoints_by_id on endpoints (id);

-- A payment by the id that its source gave it. A B-tree on these would cost every write a random page;
-- this summary costs next to nothing, and leads to the right pages among all. What is kept is the
-- canonical text's member up to its first quotation mark; the rest is compared when a row is read.
-- 32 pages hold some 400 payments.
create index payments_by_external_id on payments using brin (
  (split_part(split_part(text, '"externalId":"', 2), '"', 1))
    text_bloom_ops (n_distinct_per_range = 500, false_positive_rate = 0.005)
) with (pages_per_range = 32, autosummarize = on);

-- How many deliveries have ended in which state, by the day whose partition holds them. Nobody counts
-- millions of rows: each statement that adds or removes some says how many, in its own transaction, as
-- one more row here. Rows are only added, so nobody waits for anybody; now and then they are summed up.
create table final_counts (
  day date not null,
  state text not null,
  count bigint not null
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000
);

create function count_final() returns trigger language plpgsql as $$
begin
  insert into final_counts (day, state, count)
  select (finished_at at time zone 'UTC')::date, state,
    case tg_op when 'INSERT' then count(*) else -count(*) end
  from changed group by 1, 2;
  return null;
end $$;

create trigger final_deliveries_are_counted after insert on final_deliveries
  referencing new table as changed for each statement execute function count_final();
create trigger removed_deliveries_are_counted after delete on final_deliveries
  referencing old table as changed for each statement execute function count_final();

insert into final_counts (day, state, count)
select (finished_at at time zone 'UTC')::date, state, count(*) from final_deliveries group by 1, 2;

-- What each process has seen of its attempts, in steps of a minute, a quarter and an hour, written once a
-- second: the curves of the last hour, day and week. durations as in endpoint_hours.
create table attempt_steps (
  step_seconds integer not null,
  at timestamptz not null,
  process_id uuid not null,
  attempts integer not null,
  delivered integer not null,
  durations integer[] not null,
  primary key (step_seconds, at, process_id),
  constraint step_is_known check (step_seconds in (60, 900, 3600))
) with (fillfactor = 50);
