-- Ids say the cell that made them: the last three digits of the fourth group (core/cell.ts). Here are
-- those that record_payment makes. Ids of before have random digits there; nothing asks them, because
-- their time is before that of the second cell.

-- A constant of this schema: paybell is cell 0, paybell_7 is cell 7.
do $$
begin
  execute format('create function cell_number() returns integer language sql immutable as %L',
    'select ' || coalesce(substring(current_schema() from '_([0-9]+)$'), '0'));
end $$;

-- The random end of an id, from the hyphen before its fourth group on.
create function uuid_tail() returns text language sql volatile as $$
  select '-' || substr(random, 20, 1) || lpad(to_hex(cell_number()), 3, '0') || substr(random, 24)
  from cast(gen_random_uuid() as text) as random
$$;

create or replace function uuid_at(ticks bigint) returns uuid language sql volatile as $$
  select (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7' || lpad(to_hex(ticks % 4096), 3, '0')
    || uuid_tail())::uuid
  from lpad(to_hex(ticks / 4096), 12, '0') as hex
$$;

-- In owe_changes only the random end of a delivery's id changes, so only that is replaced: the rest of it
-- stays what the migrations before have made of it.
do $$
declare
  before text := pg_get_functiondef('owe_changes()'::regprocedure);
  after text := replace(before, 'substr(gen_random_uuid()::text, 16))::uuid',
    'substr(gen_random_uuid()::text, 16, 3) || uuid_tail())::uuid');
begin
  if after = before then raise exception 'owe_changes makes its ids in another way'; end if;
  execute after;
end $$;

revoke all on function cell_number(), uuid_tail() from public;
