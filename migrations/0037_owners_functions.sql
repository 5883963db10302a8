-- Functions that act with the rights of the audit's owner are for the service alone. Every role with the use of the
-- schema could call them, one that may only record payments (docs/feeding.md) among them: it could have moved the places
-- of the audit below what is sealed. Roles that serve have been granted to add to the audit, and keep what they need;
-- new ones get it with their other grants (store/app-role.ts).
do $$
declare
  functions text := 'carry_audit_over(bigint, integer), ensure_audit_partition(timestamptz, bigint),
    ensure_audit_partitions(timestamptz), inspect_audit_default(integer)';
  serving regrole;
begin
  execute format('revoke all on function %s from public', functions);
  for serving in
    select distinct granted.grantee::regrole from pg_class c, aclexplode(c.relacl) as granted
    where c.oid = 'audit'::regclass and granted.privilege_type = 'INSERT'
      and granted.grantee not in (0, c.relowner)
  loop
    execute format('grant execute on function %s to %s', functions, serving);
  end loop;
end $$;
