CREATE TABLE `audit` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`subject` text NOT NULL,
	`detail` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `key_secrets` (
	`hash` text PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`last4` text NOT NULL,
	`created_at` integer NOT NULL,
	`grace_until` integer,
	FOREIGN KEY (`key_id`) REFERENCES `keys`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `key_secrets_key_id` ON `key_secrets` (`key_id`);--> statement-breakpoint
CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`environment` text NOT NULL,
	`name` text NOT NULL,
	`scopes` text NOT NULL,
	`window_limit` integer,
	`cu_allowance` integer,
	`expires_at` integer,
	`ip_allow_list` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE TABLE `settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `usage` (
	`key_id` text NOT NULL,
	`hour` integer NOT NULL,
	`operation` text NOT NULL,
	`chain_id` integer NOT NULL,
	`requests` integer NOT NULL,
	`cu` integer NOT NULL,
	PRIMARY KEY(`key_id`, `hour`, `operation`, `chain_id`)
);
