-- What the operator has been told of a certificate's end: the smallest number of days before it, and how many notices there
-- were. A renewed certificate, with another end, is told of anew.
--
-- A constant as default: no table is rewritten, and the lock lasts for a moment.
alter table client_certificates add column expiry_told_days smallint;
alter table client_certificates add column notices int not null default 0;
