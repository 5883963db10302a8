-- paybell.record_payment(account, payment): a payment change made by a company inside its own
-- transaction in this database. The rules are those of server/core/payment-*.ts, to the byte: a
-- differential test holds the two together, so whoever changes one changes the other.
--
-- No literal below holds a backslash, and nothing depends on the caller's settings: the functions
-- run in sessions that are not ours.

-- What a transaction has recorded and will owe when it commits. Rows live only inside a transaction:
-- whatever is inserted is taken out again at its commit, so nobody else ever sees one, and a crash
-- has nothing to lose.
create unlogged table changes_at_commit (
  transaction_id xid8 not null default pg_current_xact_id(),
  client_key integer not null,
  payment_id uuid not null,
  account_id uuid not null,
  sequence integer not null,
  kind text not null,
  text text not null,
  document_hash bytea,
  document_bytes integer,
  recorded_at timestamptz not null,
  primary key (transaction_id, client_key, payment_id, sequence)
);

-- A UUIDv7 whose time is `ticks` of 1/4096 of a millisecond: such ids rise also within a millisecond,
-- like those that the service makes, and fall into the same daily partitions.
create function uuid_at(ticks bigint) returns uuid language sql volatile as $$
  select (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7' || lpad(to_hex(ticks % 4096), 3, '0')
    || substr(gen_random_uuid()::text, 19))::uuid
  from lpad(to_hex(ticks / 4096), 12, '0') as hex
$$;

-- At the commit, because a transaction may have been open for minutes: only now do its events get
-- their ids and their time, so nobody who reads events or due work forward has passed them already.
-- The first call does it for all the transaction's changes, those after it find nothing left.
create function owe_changes() returns trigger language plpgsql security definer
  set search_path = paybell, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  at_commit timestamptz := clock_timestamp();
  -- Milliseconds, as everywhere.
  accepted timestamptz := date_trunc('milliseconds', at_commit);
  first_tick bigint := floor(extract(epoch from at_commit) * 4096000);
  shards smallint[];
begin
  with ended as (
    delete from changes_at_commit where transaction_id = pg_current_xact_id() returning *
  ), in_order as (
    select *, row_number() over (order by recorded_at, payment_id, sequence) - 1 as place from ended
  ), happened as (
    insert into events (client_key, id, payment_id, account_id, sequence, kind, text, document_hash,
      document_bytes, created_at)
    select client_key, uuid_at(first_tick + place), payment_id, account_id, sequence, kind, text,
      document_hash, document_bytes, accepted
    from in_order order by place
    returning client_key, id, payment_id, account_id, sequence, kind
  ), owed as (
    -- As in store/accept.ts: one for each endpoint that exists now, whatever its status.
    insert into pending_deliveries (client_key, id, event_id, endpoint_id, payment_id, account_id,
      sequence, kind, shard, created_at, next_attempt_at)
    select h.client_key, (left(h.id::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
      h.id, e.id, h.payment_id, h.account_id, h.sequence, h.kind, e.shard, accepted, accepted
    from happened h join endpoints e
      on e.client_key = h.client_key and e.deleted_at is null
     and e.scope in (h.account_id, '00000000-0000-0000-0000-000000000000')
    returning shard
  )
  select array_agg(distinct shard) into shards from owed;
  -- Told at the commit and not before (store/wake-ups.ts). The service itself never notifies inside
  -- a business transaction, because of the lock that this takes while it commits; here nobody else
  -- knows when the commit happens.
  if shards is not null then
    perform pg_notify('paybell',
      json_build_object('from', 'record_payment', 'shards', shards, 'endpoints', '[]'::json,
        'sinceMs', floor(extract(epoch from accepted) * 1000))::text);
  end if;
  return null;
end $$;

create constraint trigger owe_changes_at_commit after insert on changes_at_commit
  deferrable initially deferred for each row execute function owe_changes();
-- Also in sessions that switch triggers off: a payment without its event must not be.
alter table changes_at_commit enable always trigger owe_changes_at_commit;

-- Checks of single fields (core/payment-checks.ts). Null: nothing wrong. Otherwise the code and a
-- sentence that never repeats what was sent. Each takes a value that is there.

create function fault_of_text(value json, characters_min integer, characters_max integer)
  returns text language sql immutable as $$
  select case
    when json_typeof(value) <> 'string' then 'wrong-type: Must be a string.'
    when char_length(value #>> '{}') < characters_min then 'empty: Must not be empty.'
    when char_length(value #>> '{}') > characters_max
      then 'too-long: Must have at most ' || characters_max || ' characters.'
  end
$$;

create function fault_of_word(value json, words text[], what text) returns text
  language sql immutable as $$
  select case
    when json_typeof(value) <> 'string' then 'wrong-type: Must be a string.'
    when not (value #>> '{}') = any (words)
      then 'not-in-list: Must be one of the known ' || what || '.'
  end
$$;

create function fault_of_pattern(value json, pattern text, fault text) returns text
  language sql immutable as $$
  select case
    when json_typeof(value) <> 'string' then 'wrong-type: Must be a string.'
    when (value #>> '{}') !~ pattern then fault
  end
$$;

create function fault_of_uuid(value json) returns text language sql immutable as $$
  select fault_of_pattern(value,
    '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$',
    'not-a-uuid: Must be a uuid: 32 hexadecimal digits, hyphenated.')
$$;

create function fault_of_date_time(value json) returns text language plpgsql immutable as $$
declare
  fault constant text := 'not-a-date-time: Must be an RFC 3339 date-time with its zone, such as 2026-01-31T09:30:00Z.';
  wrong_form text := fault_of_pattern(value,
    '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$',
    fault);
  year integer;
  month integer;
  days integer;
begin
  if wrong_form is not null then return wrong_form; end if;
  year := substr(value #>> '{}', 1, 4);
  month := substr(value #>> '{}', 6, 2);
  days := case
    when month = 2 then case when year % 4 = 0 and (year % 100 <> 0 or year % 400 = 0) then 29 else 28 end
    when month in (4, 6, 9, 11) then 30
    else 31
  end;
  return case when substr(value #>> '{}', 9, 2)::integer > days then fault end;
end $$;

create function fault_of_media_type(value json) returns text language sql immutable as $$
  select coalesce(
    fault_of_text(value, 1, 320),
    fault_of_pattern(value,
      '^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*( *;[ -~]*)?$',
      'not-a-media-type: Must be a media type: application/pdf.'))
$$;

-- The digits as written: a json value keeps them, as jsonb would not.
create function fault_of_amount(value json) returns text language sql immutable as $$
  select case
    when json_typeof(value) <> 'number' then 'wrong-type: Must be a JSON number, not a string.'
    when value::text like '-%' then 'negative-amount: Must not be negative; -0 is written 0.'
    when char_length(value::text) > 40
      then 'amount-too-long: Must have at most 40 characters as written.'
    when abs(coalesce(substring(value::text from '[Ee]([-+]?[0-9]+)$')::numeric, 0)) > 30
      then 'invalid-amount: Must have an exponent from -30 to 30, or none.'
  end
$$;

-- The version as a whole number, null when it is none that a JSON reader keeps exactly. Read as such
-- readers do, through a double: 1e3 and 5.0 are whole numbers too.
create function read_version(value json) returns bigint language plpgsql immutable as $$
declare
  written text := value::text;
  number double precision;
begin
  if written ~ '^-?[0-9]{1,15}$' then return written; end if;
  begin
    number := written;
  exception when numeric_value_out_of_range then
    -- Too small for a double is nothing; too large is no version.
    number := case when written ~ '[Ee]-' then 0 end;
  end;
  return case when number = trunc(number) and abs(number) <= 9007199254740991 then number::bigint end;
end $$;

create function fault_of_version(value json) returns text language sql immutable as $$
  select case
    when json_typeof(value) <> 'number' then 'wrong-type: Must be a JSON number, not a string.'
    when read_version(value) is null
      then 'out-of-range: Must be an integer from -9007199254740991 to 9007199254740991.'
  end
$$;

-- Strict base64 (core/payment-document.ts): encoding what was decoded must give the same text again.
create function fault_of_file(value json) returns text language plpgsql immutable as $$
declare
  base64 text;
  decoded bytea;
begin
  if json_typeof(value) <> 'string' then return 'wrong-type: Must be a string.'; end if;
  base64 := value #>> '{}';
  if base64 = '' then return 'empty: Must not be empty.'; end if;
  if octet_length(base64) <= 13981016 then
    begin
      decoded := decode(base64, 'base64');
    exception when data_exception then
      decoded := null;
    end;
    if decoded is null or replace(encode(decoded, 'base64'), chr(10), '') <> base64 then
      return 'not-base64: Must be base64 (RFC 4648 §4), padded, without blanks.';
    end if;
    if length(decoded) <= 10485760 then return null; end if;
  end if;
  return 'file-too-large: Must decode to at most 10485760 bytes.';
end $$;

create function fault_of_object(value json) returns text language sql immutable as $$
  select case when json_typeof(value) <> 'object' then 'wrong-type: Must be an object.' end
$$;

-- A member that is there: null counts as left out. Of two with one name the last one wins.
create function member(object json, name text) returns json language sql immutable as $$
  select case when json_typeof(object -> name) <> 'null' then object -> name end
$$;

-- A payment as a company hands it over, read once: the file in it may be 13 MB.
create type payment_members as (
  id json, status json, complete json, "createdAt" json, "completedAt" json, "externalId" json,
  "quoteId" json, amount json, reference json, "purposeOfPayment" json, "beneficiaryId" json,
  "documentReference" json, document json, version json,
  -- Of the document: taken out of it once, too.
  "mediaType" json, name json, "base64EncodedFile" json
);

-- Everything that is wrong with a payment, a line each: pointer, code, sentence. Null: it conforms.
-- In PL/pgSQL, which keeps the plan: one of 22 checks takes longer to make than to run.
create function faults_of_payment(it payment_members) returns text language plpgsql immutable as $$
begin
  return (select string_agg(checks.pointer || ' ' || checks.fault, chr(10))
  from (
    select pointer,
      case when value is null then case when is_required then 'missing: Is required.' end else fault end
    from (values
      ('/id', true, it.id, fault_of_uuid(it.id)),
      ('/status', false, it.status, fault_of_object(it.status)),
      ('/status/state', json_typeof(it.status) = 'object', member(it.status, 'state'),
        fault_of_word(member(it.status, 'state'),
          array['DRAFT', 'CANCELLED', 'PENDING_APPROVAL', 'DUE', 'PAID'], 'payment states')),
      ('/status/reason', false, member(it.status, 'reason'),
        fault_of_text(member(it.status, 'reason'), 0, 1024)),
      ('/complete', false, it.complete, case when json_typeof(it.complete) <> 'boolean'
        then 'wrong-type: Must be true or false.' end),
      ('/createdAt', false, it."createdAt", fault_of_date_time(it."createdAt")),
      ('/completedAt', false, it."completedAt", fault_of_date_time(it."completedAt")),
      ('/externalId', true, it."externalId", fault_of_text(it."externalId", 1, 1024)),
      ('/quoteId', true, it."quoteId", fault_of_uuid(it."quoteId")),
      ('/amount', true, it.amount, fault_of_object(it.amount)),
      ('/amount/amount', json_typeof(it.amount) = 'object', member(it.amount, 'amount'),
        fault_of_amount(member(it.amount, 'amount'))),
      ('/amount/currency', json_typeof(it.amount) = 'object', member(it.amount, 'currency'),
        fault_of_pattern(member(it.amount, 'currency'), '^[A-Z]{3}$',
          'not-a-currency: Must be three capital letters A to Z.')),
      ('/reference', true, it.reference, fault_of_text(it.reference, 1, 1024)),
      ('/purposeOfPayment', true, it."purposeOfPayment", fault_of_word(it."purposeOfPayment", array[
        'COMPUTER_SERVICES', 'FAMILY_SUPPORT', 'EDUCATION', 'MEDICAL_TREATMENT',
        'MAINTENANCE_EXPENSES', 'TRAVEL', 'SMALL_VALUE_REMITTANCE', 'CONSTRUCTION_EXPENSES',
        'HOTEL_ACCOMMODATION', 'ADVERTISING_EXPENSES', 'ADVISORY_FEES', 'BUSINESS_INSURANCE',
        'INSURANCE_CLAIMS', 'DELIVERY_FEES', 'EXPORTED_GOODS', 'SERVICE_CHARGES', 'LOAN_PAYMENT',
        'OFFICE_EXPENSES', 'PROPERTY_PURCHASE', 'PROPERTY_RENTAL', 'ROYALTY_FEES',
        'SHARES_INVESTMENT', 'FUND_INVESTMENT', 'TAX_PAYMENT', 'TRANSPORTATION_FEES',
        'UTILITY_BILLS', 'PERSONAL_TRANSFER', 'SALARY_PAYMENT', 'INFLUENCER_PAYMENT',
        'DIVIDEND_PAYMENT', 'OTHER_FEES', 'OTHER'], 'purposes of payment')),
      ('/beneficiaryId', true, it."beneficiaryId", fault_of_uuid(it."beneficiaryId")),
      ('/documentReference', false, it."documentReference",
        fault_of_text(it."documentReference", 0, 1024)),
      ('/document', false, it.document, fault_of_object(it.document)),
      ('/document/mediaType', json_typeof(it.document) = 'object', it."mediaType",
        fault_of_media_type(it."mediaType")),
      ('/document/name', json_typeof(it.document) = 'object', it.name,
        fault_of_text(it.name, 1, 1024)),
      ('/document/base64EncodedFile', json_typeof(it.document) = 'object', it."base64EncodedFile",
        fault_of_file(it."base64EncodedFile")),
      ('/version', false, it.version, fault_of_version(it.version))
    ) as field (pointer, is_required, value, fault)
  ) as checks (pointer, fault)
  where checks.fault is not null);
end $$;

-- A JSON text with its members, of which unknown ones are ignored.
create function read_payment(payment json) returns payment_members language plpgsql immutable as $$
declare
  it payment_members;
  held record;
  value json;
begin
  -- Of members with one name the last one wins, as everywhere.
  for held in select * from json_each(payment) loop
    value := case when json_typeof(held.value) <> 'null' then held.value end;
    case held.key
      when 'id' then it.id := value;
      when 'status' then it.status := value;
      when 'complete' then it.complete := value;
      when 'createdAt' then it."createdAt" := value;
      when 'completedAt' then it."completedAt" := value;
      when 'externalId' then it."externalId" := value;
      when 'quoteId' then it."quoteId" := value;
      when 'amount' then it.amount := value;
      when 'reference' then it.reference := value;
      when 'purposeOfPayment' then it."purposeOfPayment" := value;
      when 'beneficiaryId' then it."beneficiaryId" := value;
      when 'documentReference' then it."documentReference" := value;
      when 'document' then it.document := value;
      when 'version' then it.version := value;
      else null;
    end case;
  end loop;
  if json_typeof(it.document) = 'object' then
    for held in select * from json_each(it.document) loop
      value := case when json_typeof(held.value) <> 'null' then held.value end;
      case held.key
        when 'mediaType' then it."mediaType" := value;
        when 'name' then it.name := value;
        when 'base64EncodedFile' then it."base64EncodedFile" := value;
        else null;
      end case;
    end loop;
    -- That it is an object is all that is asked of it now.
    it.document := '{}';
  end if;
  return it;
end $$;

create function refuse_payment(state text, code text, sentence text, faults text default null)
  returns void language plpgsql as $$
begin
  raise exception using errcode = state, message = code || ': ' || sentence,
    detail = coalesce(faults, sentence),
    hint = 'Nothing was recorded. docs/feeding.md lists what record_payment refuses.';
end $$;

create function record_payment(account_id uuid, payment json) returns json language plpgsql
  security definer
  set search_path = paybell, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  given_account constant uuid := account_id;
  given constant json := payment;
  now_at timestamptz;
  now_text text;
  owner_key integer;
  it payment_members;
  faults text;
  payment_id uuid;
  stored payments%rowtype;
  is_new boolean;
  before json;
  written_version bigint;
  new_version bigint;
  new_sequence integer;
  state_before text;
  state text;
  reason text;
  created_text text;
  completed_text text;
  new_text text;
  kind text;
  base64 text;
  hash bytea;
begin
  if given_account is null then
    perform refuse_payment('PB001', 'invalid-fields', 'The account is missing.');
  end if;
  select client_key into owner_key from accounts where id = given_account;
  if owner_key is null then
    perform refuse_payment('PB002', 'unknown-account', 'No account has this id.');
  end if;

  if given is null or json_typeof(given) <> 'object' then
    perform refuse_payment('PB001', 'invalid-fields', 'The payment must be a JSON object.');
  end if;
  if octet_length(given::text) > 14112088 then
    perform refuse_payment('PB005', 'body-too-large', 'The text is longer than any payment can be.');
  end if;
  begin
    it := read_payment(given);
  exception when untranslatable_character or invalid_text_representation then
    perform refuse_payment('PB001', 'invalid-fields',
      'The payment holds the character U+0000 or half a surrogate pair.',
      'invalid-text: Must be well-formed Unicode without the character U+0000.');
  end;
  faults := faults_of_payment(it);
  if faults is not null then
    perform refuse_payment('PB001', 'invalid-fields',
      case when faults like '%' || chr(10) || '%'
        then array_length(string_to_array(faults, chr(10)), 1) || ' fields do not conform.'
        else 'One field does not conform.' end, faults);
  end if;
  payment_id := it.id #>> '{}';
  written_version := case when it.version is not null then read_version(it.version) end;
  if it.document is not null then
    base64 := it."base64EncodedFile" #>> '{}';
    hash := sha256(decode(base64, 'base64'));
  end if;

  -- The lock that the service takes (store/payments.ts), whether the payment exists yet or not. The
  -- row is locked too: under repeatable read, what changed since the snapshot is then an error
  -- (40001) and not a fork of the sequence.
  perform pg_advisory_xact_lock(uuid_hash_extended(payment_id, 0));
  select * into stored from payments p where p.id = payment_id for update;
  is_new := not found;
  -- The clock is read behind the lock: of two changes of one payment the later one has the later time.
  now_at := date_trunc('milliseconds', clock_timestamp());
  now_text := to_char(now_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

  -- core/payment-change.ts from here on.
  if is_new then
    state := coalesce(it.status ->> 'state', 'DRAFT');
    reason := it.status ->> 'reason';
    created_text := coalesce(upper(it."createdAt" #>> '{}'), now_text);
    new_sequence := 1;
    new_version := written_version;
    kind := 'payment.created';
  else
    if stored.account_id <> given_account then
      perform refuse_payment('PB003', 'payment-of-another-account',
        'A payment with this id belongs to another account.');
    end if;
    -- Before the move is judged: a late copy of an old write is not a mistake of the caller's.
    if written_version <= stored.version then
      return ('{"outcome":"stale","payment":' || stored.text || ',"event":null,"stale":true}')::json;
    end if;
    before := stored.text;
    state_before := before -> 'status' ->> 'state';
    if it.status is null then
      state := state_before;
      reason := before -> 'status' ->> 'reason';
    else
      state := it.status ->> 'state';
      reason := it.status ->> 'reason';
    end if;
    if state <> state_before and not (case state_before
        when 'DRAFT' then state in ('PENDING_APPROVAL', 'DUE', 'CANCELLED')
        when 'PENDING_APPROVAL' then state in ('DRAFT', 'DUE', 'CANCELLED')
        when 'DUE' then state in ('PAID', 'CANCELLED')
        else false end) then
      perform refuse_payment('PB004', 'forbidden-move',
        'A payment cannot go from ' || state_before || ' to ' || state || '.');
    end if;
    created_text := before ->> 'createdAt';
    completed_text := before ->> 'completedAt';
    new_sequence := stored.sequence + 1;
    new_version := coalesce(written_version, stored.version);
    kind := case when state = state_before or state = 'DRAFT' then 'payment.updated'
      else 'payment.' || lower(state) end;
  end if;
  completed_text := case when state in ('PAID', 'CANCELLED')
    then coalesce(completed_text, upper(it."completedAt" #>> '{}'), now_text) end;

  -- core/payment-text.ts: to_json escapes a text as JSON.stringify does.
  new_text := '{"id":"' || payment_id || '","status":{"state":"' || state || '"'
    || coalesce(',"reason":' || to_json(reason), '')
    || '},"complete":' || (state in ('PAID', 'CANCELLED'))::text
    || ',"createdAt":"' || created_text || '"'
    || coalesce(',"completedAt":"' || completed_text || '"', '')
    || ',"externalId":' || to_json(it."externalId" #>> '{}')
    || ',"quoteId":"' || lower(it."quoteId" #>> '{}') || '"'
    || ',"amount":{"amount":' || (it.amount -> 'amount')::text
    || ',"currency":"' || (it.amount ->> 'currency') || '"}'
    || ',"reference":' || to_json(it.reference #>> '{}')
    || ',"purposeOfPayment":"' || (it."purposeOfPayment" #>> '{}') || '"'
    || ',"beneficiaryId":"' || lower(it."beneficiaryId" #>> '{}') || '"'
    || coalesce(',"documentReference":' || to_json(it."documentReference" #>> '{}'), '')
    || coalesce(',"document":{"mediaType":' || to_json(it."mediaType" #>> '{}')
      || ',"name":' || to_json(it.name #>> '{}') || '}', '')
    || '}';

  if not is_new and new_text = stored.text and hash is not distinct from stored.document_hash then
    if new_version is distinct from stored.version then
      update payments set version = new_version, changed_at = now_at
      where id = payment_id and client_key = owner_key;
    end if;
    return ('{"outcome":"unchanged","payment":' || stored.text || ',"event":null}')::json;
  end if;

  if base64 is not null then
    -- Used again: renewed, so that retention does not take it away meanwhile.
    insert into documents (client_key, hash, content, created_at)
    values (owner_key, hash, base64, now_at)
    on conflict (client_key, hash) do update set created_at = excluded.created_at;
  end if;
  insert into payments (client_key, id, account_id, sequence, version, text, document_hash,
    accepted_at, changed_at)
  values (owner_key, payment_id, given_account, new_sequence, new_version, new_text, hash, now_at,
    now_at)
  on conflict (id, client_key) do update set
    sequence = excluded.sequence, version = excluded.version, text = excluded.text,
    document_hash = excluded.document_hash, changed_at = excluded.changed_at;
  insert into changes_at_commit (client_key, payment_id, account_id, sequence, kind, text,
    document_hash, document_bytes, recorded_at)
  values (owner_key, payment_id, given_account, new_sequence, kind, new_text, hash,
    octet_length(base64), clock_timestamp());
  return ('{"outcome":"' || case when is_new then 'created' else 'changed' end || '","payment":'
    || new_text || ',"event":{"type":"' || kind || '","sequence":' || new_sequence || '}}')::json;
end $$;

comment on function record_payment(uuid, json) is
  'Records a payment as it is now, inside the caller''s transaction: the change, its event and its deliveries commit with it or not at all. See docs/feeding.md.';

-- Whoever may record payments is named by the operator: grant usage on schema paybell and execute on
-- record_payment. The rest is nobody's business but its own.
revoke all on function record_payment(uuid, json), owe_changes(), uuid_at(bigint),
  fault_of_text(json, integer, integer), fault_of_word(json, text[], text),
  fault_of_pattern(json, text, text), fault_of_uuid(json), fault_of_date_time(json),
  fault_of_media_type(json), fault_of_amount(json), read_version(json), fault_of_version(json),
  fault_of_file(json), fault_of_object(json), member(json, text), faults_of_payment(payment_members),
  read_payment(json), refuse_payment(text, text, text, text) from public;
