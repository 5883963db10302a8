-- A move of a client has five steps with a name each (core/client-move.ts); what was the time of the removal is one of
-- them. What callers see of it has three states and follows from the step: version 0.2.0, which may still serve, reads
-- those. Its command to move clients cannot write them any more: started before this, it stops, and is run again.
do $$ begin
  alter table client_moves add column step text;
  update client_moves set step = case when removed_at is null then state else 'REMOVED' end;
  alter table client_moves alter column step set not null;
  -- Their checks go with them.
  alter table client_moves drop column removed_at;
  alter table client_moves drop column state;
  alter table client_moves add column state text generated always as (
    case step when 'CLOSING' then 'COPYING' when 'REMOVED' then 'MOVED' else step end) stored;
  alter table client_moves add constraint move_step_is_known
    check (step in ('DRAINING', 'CLOSING', 'COPYING', 'MOVED', 'REMOVED'));
  alter table client_moves add constraint moved_has_a_time
    check ((step in ('MOVED', 'REMOVED')) = (moved_at is not null));
  -- Endpoints that the client had when it left: links that were sent to them lead here, and are sent on. Of moves before
  -- this one those are known that were active.
  alter table client_moves add column endpoints uuid[] not null default '{}';
  update client_moves set endpoints = active_endpoints where step in ('MOVED', 'REMOVED');
end $$;

-- The fence (0032, 0038, 0039) looks its clients up. Its tables are named with their schema, because a cluster runs it
-- where no search path is ours, and setting one costs twice as much as the look. It looks with the newest snapshot, unless
-- its transaction keeps one for all of its statements: such a one may not know of a fence that was raised after it began.
-- The row of the client was changed with the fence, so locking it fails then with 40001, and the caller begins again.
create or replace function refuse_moving() returns trigger language plpgsql as $$
declare
  client integer;
begin
  if tg_op = 'DELETE' then client := old.client_key; else client := new.client_key; end if;
  if exists (select from paybell.client_moves m
    where m.client_key = client and m.step in ('COPYING', 'MOVED', 'REMOVED')) then
    -- The move itself writes and removes what all others may not, and says so for its own transaction.
    if client::text is distinct from current_setting('moves.carried_client', true) then
      raise exception using errcode = '55P03', message = 'the client is moved to another cell',
        detail = 'client_key ' || client,
        hint = 'Try again, at the address of the cell that it is moved to.';
    end if;
  elsif current_setting('transaction_isolation') <> 'read committed' then
    perform from paybell.clients c where c.client_key = client for share;
  end if;
  if tg_op = 'DELETE' then return old; end if;
  return new;
end $$;

-- The triggers stand for good, disabled: a cell that no client leaves pays nothing for them. A move enables those that it
-- needs (store/move-fence.ts), and neither that nor this keeps readers out. Those that an earlier version made go.
set local citus.enable_unsafe_triggers = on;
do $$
declare
  made record;
  fenced record;
begin
  for made in
    select c.relname as name, t.tgname as trigger from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = 'paybell'::regnamespace
      and t.tgname in ('moving_clients', 'moving_clients_kept')
  loop
    execute format('drop trigger %I on %I', made.trigger, made.name);
  end loop;
  for fenced in
    select * from (values
      (1, 'payments', 'insert or update', true),
      (2, 'endpoints', 'insert or update', true),
      (3, 'pending_deliveries', 'insert', false),
      (4, 'job_items', 'insert', false),
      (5, 'clients', 'insert or update', true),
      (6, 'accounts', 'insert or update', true),
      (7, 'client_secrets', 'insert or update or delete', true),
      (8, 'client_console_links', 'insert or update', true)) as f (place, name, events, is_lasting)
    order by place
  loop
    execute format(
      'create trigger moving_clients before %s on %I for each row execute function refuse_moving()',
      fenced.events, fenced.name);
    if not exists (select from client_moves m
      where m.step in ('COPYING', 'MOVED') or (fenced.is_lasting and m.step = 'REMOVED')) then
      execute format('alter table %I disable trigger moving_clients', fenced.name);
    end if;
  end loop;
end $$;
