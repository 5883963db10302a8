-- What server/store/secrets/sealing-form.ts puts together, written by `npm run plans`. To paste into psql, after:
--   set search_path = paybell; set enable_seqscan = off; set random_page_cost = 1.1;

-- sealing-form.beginDerivedKeys: planned each time
prepare "sealing-form.beginDerivedKeys" (text, double precision) as
  with others as (select distinct version from processes
    where version <> $1 and seen_at > clock_timestamp() - $2 * interval '1 millisecond'), begun as (
    update sealing set is_derived = true
    where not is_derived and not exists (select from others)
  )
  select version from others order by version;
