-- Two orders in which very many are listed: with a million, each page was found by reading and sorting all.
--
-- By address. An address may be longer than an index entry can be, so the first 600 characters have to do (at most 2,400
-- bytes); those that agree in all of them come in the order of their ids. The second condition is that of
-- endpoints_by_creation, for the same reason.
create index endpoints_by_address on endpoints ((left(url, 600) collate "C"), id)
  where deleted_at is null and created_at > '-infinity';

-- A client's accounts, in the order in which they were opened.
create index accounts_by_creation on accounts (client_key, created_at, id);

-- Built while registrations and new accounts wait: a few seconds for a million. Deliveries only read the tables.
