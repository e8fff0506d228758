CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`address` text NOT NULL,
	`scopes` text,
	`max_keys` integer,
	`max_window_limit` integer,
	`created_at` integer NOT NULL,
	`last_sign_in_at` integer NOT NULL,
	`disabled_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_address_unique` ON `accounts` (`address`);--> statement-breakpoint
CREATE TABLE `console_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text,
	`credential` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `console_sessions_account` ON `console_sessions` (`account_id`);--> statement-breakpoint
CREATE INDEX `console_sessions_expires` ON `console_sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`code_hash` text NOT NULL,
	`note` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`account_id` text,
	`used_at` integer,
	`revoked_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_code_hash_unique` ON `invitations` (`code_hash`);--> statement-breakpoint
CREATE TABLE `key_errors` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`key_id` text NOT NULL,
	`at` integer NOT NULL,
	`request_id` text NOT NULL,
	`operation` text,
	`method` text NOT NULL,
	`path` text NOT NULL,
	`status` integer NOT NULL,
	`code` text NOT NULL,
	`message` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `key_errors_key` ON `key_errors` (`key_id`,`id`);--> statement-breakpoint
CREATE TABLE `key_last_used` (
	`key_id` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sign_in_attempts` (
	`subject` text PRIMARY KEY NOT NULL,
	`started_at` integer NOT NULL,
	`count` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sign_in_attempts_started` ON `sign_in_attempts` (`started_at`);--> statement-breakpoint
CREATE TABLE `sign_in_challenges` (
	`nonce` text PRIMARY KEY NOT NULL,
	`message` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sign_in_challenges_expires` ON `sign_in_challenges` (`expires_at`);--> statement-breakpoint
ALTER TABLE `keys` ADD `account_id` text REFERENCES accounts(id);--> statement-breakpoint
CREATE INDEX `keys_account` ON `keys` (`account_id`);