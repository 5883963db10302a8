-- Clients on their way to another cell, and those that have left. A row here outlives the move: it says
-- where the client is now, and what the fence below keeps out.
create table client_moves (
  client_key integer primary key references clients (client_key),
  client_id uuid not null,
  to_cell integer not null,
  -- The public address of that cell, which its clients are sent on to.
  to_address text not null,
  -- DRAINING: nothing is sent to its endpoints any more. COPYING: nothing is accepted for it either.
  -- MOVED: all of it is in the other cell.
  state text not null,
  -- Endpoints that were active when the move began, and will be again.
  active_endpoints uuid[] not null,
  started_at timestamptz not null,
  moved_at timestamptz,
  constraint cell_is_one_of_1024 check (to_cell between 0 and 1023),
  constraint move_state_is_known check (state in ('DRAINING', 'COPYING', 'MOVED')),
  constraint moved_has_a_time check ((state = 'MOVED') = (moved_at is not null))
);

-- The fence: a move makes triggers that call this for its client's rows alone, so a cell that no client has
-- left pays nothing. It holds for every session, also for a process that knows of no move and for
-- record_payment. 55P03 means "not now": the caller tries again.
create function refuse_moving() returns trigger language plpgsql as $$
begin
  raise exception using errcode = '55P03', message = 'the client is moved to another cell',
    hint = 'Try again, at the address of the cell that it is moved to.';
end $$;
revoke all on function refuse_moving() from public;
