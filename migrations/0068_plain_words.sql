-- What record_payment says of wrong fields, in the words of the HTTP interface: which values there are, and no
-- "does not conform". The functions stay as they were made, but for these sentences.
do $$
declare
  function regprocedure;
begin
  foreach function in array array[
    'record_payment(uuid, json)', 'faults_of_payment(payment_members)', 'fault_of_word(json, text[], text)']::regprocedure[]
  loop
    execute replace(replace(replace(replace(pg_get_functiondef(function),
      'fields do not conform.', 'fields are invalid.'),
      'One field does not conform.', 'One field is invalid.'),
      'missing: Is required.', 'missing: This field is required.'),
      '''not-in-list: Must be one of the known '' || what || ''.''',
      '''not-in-list: Must be one of '' || array_to_string(words, '', '') || ''.''');
  end loop;
end
$$;
