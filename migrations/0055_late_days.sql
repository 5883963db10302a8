-- Days that have got events long after they were over, because a clock was wrong. Readers of the feed have passed such a
-- day, and look through it again (server/store/history/feed.ts). Acceptance pays nothing for it: only what is inserted into a day
-- that is over meets the trigger, which upkeep gives each day some time after its end (server/store/removal/closed-days.ts), and
-- into the default partition, where rows fall that have no day.

create table late_days (
  day date not null,
  constraint late_days_pkey primary key (day)
);

create function note_late_day() returns trigger language plpgsql
  set search_path = paybell, pg_temp as $$
begin
  -- What a client brings along from another cell is not late; the notes of that cell come with it.
  if new.client_key::text is distinct from current_setting('moves.carried_client', true) then
    insert into late_days (day)
    values ((to_timestamp(('x' || left(replace(new.id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
      at time zone 'UTC')::date)
    on conflict do nothing;
  end if;
  return null;
end $$;

set local citus.enable_unsafe_triggers = on;
create trigger late_day_is_noted after insert on events_default
  for each row execute function note_late_day();
