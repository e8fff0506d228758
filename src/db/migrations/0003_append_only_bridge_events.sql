CREATE TRIGGER `bridge_events_refuse_update` BEFORE UPDATE ON `bridge_events`
BEGIN
	SELECT RAISE(ABORT, 'bridge_events is append-only');
END;
--> statement-breakpoint
CREATE TRIGGER `bridge_events_refuse_delete` BEFORE DELETE ON `bridge_events`
BEGIN
	SELECT RAISE(ABORT, 'bridge_events is append-only');
END;
