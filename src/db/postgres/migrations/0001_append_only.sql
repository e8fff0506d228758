CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "audit_refuse_change" BEFORE UPDATE OR DELETE ON "audit"
	FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "bridge_events_refuse_change" BEFORE UPDATE OR DELETE ON "bridge_events"
	FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "audit_refuse_truncate" BEFORE TRUNCATE ON "audit"
	FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
CREATE TRIGGER "bridge_events_refuse_truncate" BEFORE TRUNCATE ON "bridge_events"
	FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
