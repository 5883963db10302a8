-- The link to its file that a callback has carried, for endpoints that are sent links: the bytes of a body are the same on
-- every attempt and replay, and in its receipt, while the service's address and its master keys change and the client
-- moves to another cell. Written before the first attempt. As secret as the file itself, which is stored in clear, too.
create table document_links (
  client_key integer not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  url text not null,
  constraint document_links_pkey primary key (client_key, event_id, endpoint_id),
  constraint link_is_short check (length(url) <= 4096)
);
-- They go with the events, by the time of their ids.
create index document_links_by_age on document_links (event_id);

-- The address that an endpoint had before it was changed, and until when: receipts name the one that was sent to. By the
-- API only addresses for notices change.
create table earlier_addresses (
  client_key integer not null,
  endpoint_id uuid not null,
  until timestamptz not null,
  url text not null,
  constraint earlier_addresses_pkey primary key (client_key, endpoint_id, until)
);

create function keep_address() returns trigger
language plpgsql set search_path = paybell, pg_temp as $$
begin
  insert into earlier_addresses (client_key, endpoint_id, until, url)
  values (old.client_key, old.id, clock_timestamp(), old.url)
  on conflict do nothing;
  return null;
end $$;

create trigger address_is_kept after update of url on endpoints
  for each row when (old.url is distinct from new.url) execute function keep_address();
