-- Whether the run that has ended was a replay, so that the headers of its last attempt can be shown as they were sent. True,
-- or null: a null costs no byte, and hardly any is a replay. Adding the column touches no row; what the previous version
-- files, and what is there already, counts as none.

alter table final_deliveries add column is_replay boolean;
