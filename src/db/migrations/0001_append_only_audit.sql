CREATE TRIGGER `audit_refuse_update` BEFORE UPDATE ON `audit`
BEGIN
	SELECT RAISE(ABORT, 'audit is append-only');
END;
--> statement-breakpoint
CREATE TRIGGER `audit_refuse_delete` BEFORE DELETE ON `audit`
BEGIN
	SELECT RAISE(ABORT, 'audit is append-only');
END;
