-- Finding things by the names that people know, and reading the audit without the payments in it.

-- A text as words: letters and digits, in lower case, whatever stands between them. So `acme` finds
-- https://hooks.acme.example/paybell, and `109` finds Merchant 109.
create function search_words(given text) returns tsvector language sql immutable parallel safe as $$
  select to_tsvector('pg_catalog.simple'::regconfig,
    regexp_replace(lower(given), '[^[:alnum:]]+', ' ', 'g'))
$$;

-- What a person has typed so far: every word of it, each perhaps only begun. Null where there is none.
create function search_query(given text) returns tsquery language sql immutable parallel safe as $$
  select string_agg(quote_literal(word) || ':*', ' & ')::tsquery
  from unnest(tsvector_to_array(search_words(given))) as word
$$;

-- Clients and endpoints are made and changed by people, so that an index which is slow to write costs little.
-- Without a list of entries to be sorted in later: a search would read it through each time.
create index clients_by_words on clients using gin (search_words(name)) with (fastupdate = off);
create index endpoints_by_words on endpoints using gin (search_words(url)) with (fastupdate = off);
create index accounts_by_words on accounts using gin (search_words(name)) with (fastupdate = off);

-- The two orders in which clients are listed. Without the id, which settles ties: an index that has it in
-- second place is taken for a look-up by id where statistics know of few names.
create index clients_by_name on clients (lower(name));
create index clients_by_age on clients (created_at);

-- What a call changed, where that is small: JSON, [{"field":"status","before":"ACTIVE","after":"PAUSED"}].
-- As text: it must read the same for ever.
alter table audit add column changes text;
alter table audit add constraint audit_changes_are_short check (length(changes) <= 4000) not valid;

-- Everything but the payments that were written, which are nearly all rows. Payments are not in it, so that
-- writing one costs nothing more. To build it, writers of the partition have to wait: only where that is a
-- moment. A month that is larger goes without, and is read from its newest row back, as before.
create index audit_of_acts on only audit (id) where action not in ('payment.put', 'payment.batch');
do $$
declare
  partition regclass;
begin
  for partition in
    select inhrelid::regclass from pg_inherits
    where inhparent = 'audit'::regclass and pg_relation_size(inhrelid) < 64 * 1024 * 1024
  loop
    execute format('create index %I on %s (id) where action not in (''payment.put'', ''payment.batch'')',
      partition || '_of_acts', partition);
    execute format('alter index audit_of_acts attach partition %I', partition || '_of_acts');
  end loop;
end $$;
