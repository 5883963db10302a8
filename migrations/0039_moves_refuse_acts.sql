-- What an operator does to a client is refused while its rows are copied, as payments are (0032): the fence stands on more
-- tables, and for what is deleted, too. It names the client, so that a process can answer where the client is.
create or replace function refuse_moving() returns trigger language plpgsql as $$
declare
  client integer;
begin
  if tg_op = 'DELETE' then client := old.client_key; else client := new.client_key; end if;
  -- The move itself writes and removes what all others may not, and says so for its own transaction.
  if client::text = current_setting('moves.carried_client', true) then
    if tg_op = 'DELETE' then return old; end if;
    return new;
  end if;
  raise exception using errcode = '55P03', message = 'the client is moved to another cell',
    detail = 'client_key ' || client,
    hint = 'Try again, at the address of the cell that it is moved to.';
end $$;

-- Until what was copied is removed, acts could still find it here: the part of the fence that is for them stays so long.
-- Moves that were made before this column may have left rows: run again, such a move removes them.
-- One by one, because a cluster sends the text of each on, and takes a constraint alone.
do $$ begin
  alter table client_moves add column removed_at timestamptz;
  alter table client_moves add constraint only_what_has_moved_is_removed
    check (removed_at is null or state = 'MOVED');
end $$;
