-- A cell may live on a node of a Citus cluster, which has all tables of its schema (docs/scaling.md).

-- What counts final deliveries runs on that node, in a session that has no search path of ours, and a planner of
-- several nodes knows nothing of a statement's new rows: so they are counted by a query of their own.
create or replace function count_final() returns trigger language plpgsql
  set search_path = paybell, pg_temp as $$
declare
  counted record;
begin
  for counted in
    select (finished_at at time zone 'UTC')::date as day, state, count(*) as count
    from changed group by 1, 2
  loop
    if tg_op = 'DELETE' then counted.count := -counted.count; end if;
    insert into final_counts (day, state, count) values (counted.day, counted.state, counted.count);
  end loop;
  return null;
end $$;

-- A cell that moves to another node is replicated, and what goes meanwhile has to be named there. Only where
-- wal_level is logical does this write more, and only for what is deleted.
alter table final_counts replica identity full;

-- For the same reason: it calls search_words by its name alone.
alter function search_query(text) set search_path = paybell, pg_temp;
