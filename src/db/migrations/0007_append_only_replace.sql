-- INSERT OR REPLACE deletes without firing delete triggers.
CREATE TRIGGER `audit_refuse_replace` BEFORE INSERT ON `audit`
WHEN EXISTS (SELECT 1 FROM `audit` WHERE `id` = NEW.`id`)
BEGIN
	SELECT RAISE(ABORT, 'audit is append-only');
END;
--> statement-breakpoint
CREATE TRIGGER `bridge_events_refuse_replace` BEFORE INSERT ON `bridge_events`
WHEN EXISTS (SELECT 1 FROM `bridge_events` WHERE `id` = NEW.`id`)
BEGIN
	SELECT RAISE(ABORT, 'bridge_events is append-only');
END;
