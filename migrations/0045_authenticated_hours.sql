-- A kept hour of a statement is authenticated under the master key, so that no one else's row is signed by the service,
-- and says up to which place of the feed it has counted: an event of that hour with a later place, such as one that a
-- clock which went back has dated, opens it again. The version before writes neither; its rows are counted again.
alter table statement_hours add column place bigint, add column authentication bytea;
