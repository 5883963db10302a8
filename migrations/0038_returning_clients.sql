-- A client that has left a cell may come back: the move that brings it writes what the fence (0032) keeps out, and says so
-- for its own transaction. Until that has committed, all other sessions are kept out as before.
create or replace function refuse_moving() returns trigger language plpgsql as $$
begin
  if new.client_key::text = current_setting('moves.carried_client', true) then return new; end if;
  raise exception using errcode = '55P03', message = 'the client is moved to another cell',
    hint = 'Try again, at the address of the cell that it is moved to.';
end $$;
