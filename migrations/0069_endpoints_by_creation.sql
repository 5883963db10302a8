-- The operator's list of endpoints, in the order in which they were registered: with a million of them, a page was found
-- by reading and sorting all. The client is in the index so that those of the service itself are passed over, and a far
-- page is reached, without a look at the rows. Endpoints are registered and changed rarely: an index costs little there.
--
-- The second condition holds for all of them, and only the list has it: where statistics say nothing, the planner takes an
-- index of all that are not deleted for every statement about those, also where it leads nowhere.
--
-- Built while registrations wait: a second or two for a million endpoints. Deliveries only read the table.
create index endpoints_by_creation on endpoints (created_at, id) include (client_key)
  where deleted_at is null and created_at > '-infinity';
