CREATE TABLE `key_lookup` (
	`hash` text PRIMARY KEY NOT NULL,
	`record` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE VIEW `key_records` AS
SELECT s.`hash`, k.`id` AS `key_id`, json_array(
	k.`id`, k.`environment`, k.`name`, json(k.`scopes`), k.`window_limit`, k.`cu_allowance`,
	k.`expires_at`, json(k.`ip_allow_list`), k.`bridge_per_transfer_atomic`,
	k.`bridge_per_day_atomic`, k.`created_at`, k.`revoked_at`, k.`account_id`,
	s.`last4`, s.`created_at`, s.`grace_until`, a.`disabled_at`
) AS `record`
FROM `key_secrets` s
JOIN `keys` k ON k.`id` = s.`key_id`
LEFT JOIN `accounts` a ON a.`id` = k.`account_id`;
--> statement-breakpoint
INSERT INTO `key_lookup` SELECT `hash`, `record` FROM `key_records` ORDER BY `hash`;
--> statement-breakpoint
CREATE TRIGGER `key_lookup_secret_added` AFTER INSERT ON `key_secrets`
BEGIN
	INSERT INTO `key_lookup` SELECT `hash`, `record` FROM `key_records` WHERE `hash` = NEW.`hash`;
END;
--> statement-breakpoint
CREATE TRIGGER `key_lookup_secret_changed` AFTER UPDATE ON `key_secrets`
BEGIN
	DELETE FROM `key_lookup` WHERE `hash` = OLD.`hash`;
	INSERT INTO `key_lookup` SELECT `hash`, `record` FROM `key_records` WHERE `hash` = NEW.`hash`;
END;
--> statement-breakpoint
CREATE TRIGGER `key_lookup_secret_removed` AFTER DELETE ON `key_secrets`
BEGIN
	DELETE FROM `key_lookup` WHERE `hash` = OLD.`hash`;
END;
--> statement-breakpoint
CREATE TRIGGER `key_lookup_key_changed` AFTER UPDATE ON `keys`
BEGIN
	INSERT OR REPLACE INTO `key_lookup`
	SELECT `hash`, `record` FROM `key_records` WHERE `key_id` = NEW.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `key_lookup_account_changed` AFTER UPDATE OF `disabled_at` ON `accounts`
BEGIN
	INSERT OR REPLACE INTO `key_lookup` SELECT `hash`, `record` FROM `key_records`
	WHERE `key_id` IN (SELECT `id` FROM `keys` WHERE `account_id` = NEW.`id`);
END;
