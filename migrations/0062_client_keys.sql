-- Clients that prove themselves with a key of their own (RFC 7523) in place of a secret, or beside one.

-- `keys`: its secrets get no token any more. Filled by itself for the version before, which does not know it.
alter table clients add column credentials text not null default 'any'
  constraint credentials_are_any_or_keys check (credentials in ('any', 'keys'));

-- Public keys only. Someone who can write to the database could add one and be that client: a row counts only if a holder
-- of the master key has authenticated it (operations/access/trusted-keys.ts).
create table client_keys (
  client_key integer not null references clients,
  kid text not null,
  public_jwk jsonb not null,
  created_at timestamptz not null,
  authentication bytea not null,
  primary key (client_key, kid)
);

-- An assertion gets one token, in whichever process it arrives. Its jti is kept, as a digest, for as long as it could be
-- sent again.
create table used_assertions (
  client_key integer not null references clients,
  jti_digest bytea not null,
  expires_at timestamptz not null,
  primary key (client_key, jti_digest)
);
-- For upkeep, which deletes what is over.
create index used_assertions_by_expiry on used_assertions (expires_at);

-- What is written for a client on its way to another cell is refused, as for its secrets (0047).
set local citus.enable_unsafe_triggers = on;
create trigger moving_clients before insert or update or delete on client_keys
  for each row execute function refuse_moving();
do $$
begin
  if not exists (select from client_moves m where m.step in ('COPYING', 'MOVED', 'REMOVED')) then
    alter table client_keys disable trigger moving_clients;
  end if;
end $$;
