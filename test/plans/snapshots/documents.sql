-- What server/store/payments/documents.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- documents.findUnsaved: kept as find-fresh-documents, hot path
prepare "documents.findUnsaved" (integer[], bytea[], timestamp with time zone) as
  select d.client_key || ' ' || encode(d.hash, 'hex') as key
  from unnest((select $1::int[])::int[], $2::bytea[]) as given (client_key, hash)
  join documents d on d.client_key = given.client_key and d.hash = given.hash
  where d.created_at > $3
  -- It is not deleted before our transaction ends. One that is being deleted is saved again.
  for key share of d skip locked;

-- Alike: 2; 3
-- documents.leaveOutNamedByEvents: planned each time
prepare "documents.leaveOutNamedByEvents" (integer[], bytea[], timestamp with time zone[]) as
  select u.client_key, u.hash, u.created_at::text
  from unnest($1::int[], $2::bytea[], $3::timestamptz[]) as u (client_key, hash, created_at)
  where (select true from events e where e.client_key = u.client_key
    and e.document_hash = u.hash and e.id >= uuid '019cb0fe-9400-0000-0000-000000000000' limit 1) is null;

-- Alike: 2
-- documents.readDocumentSize: kept as read-document-size, hot path
prepare "documents.readDocumentSize" (integer, bytea) as
  select octet_length(content) as characters,
  convert_from(substr(convert_to(content, 'UTF8'), octet_length(content) - 1, 2), 'UTF8') as end
  from documents where client_key = $1 and hash = $2;
