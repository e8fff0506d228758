CREATE TABLE `bridge_events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`transfer_id` text NOT NULL,
	`at` integer NOT NULL,
	`from_state` text,
	`to_state` text NOT NULL,
	`event` text NOT NULL,
	`detail` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `bridge_events_transfer` ON `bridge_events` (`transfer_id`);--> statement-breakpoint
CREATE TABLE `bridge_idempotency` (
	`key_id` text NOT NULL,
	`idempotency_key` text NOT NULL,
	`body_hash` text NOT NULL,
	`transfer_id` text NOT NULL,
	PRIMARY KEY(`key_id`, `idempotency_key`),
	FOREIGN KEY (`transfer_id`) REFERENCES `bridge_transfers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `bridge_nonces` (
	`chain_id` integer NOT NULL,
	`signer` text NOT NULL,
	`nonce` integer NOT NULL,
	`transfer_id` text NOT NULL,
	`purpose` text NOT NULL,
	`spent` integer NOT NULL,
	PRIMARY KEY(`chain_id`, `signer`, `nonce`),
	FOREIGN KEY (`transfer_id`) REFERENCES `bridge_transfers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `bridge_nonces_transfer` ON `bridge_nonces` (`transfer_id`);--> statement-breakpoint
CREATE TABLE `bridge_transactions` (
	`hash` text PRIMARY KEY NOT NULL,
	`transfer_id` text NOT NULL,
	`chain_id` integer NOT NULL,
	`signer` text NOT NULL,
	`purpose` text NOT NULL,
	`nonce` integer,
	`raw` text NOT NULL,
	`max_fee_per_gas` text,
	`max_priority_fee_per_gas` text,
	`valid_until_height` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`transfer_id`) REFERENCES `bridge_transfers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `bridge_transactions_transfer` ON `bridge_transactions` (`transfer_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `bridge_transactions_raw` ON `bridge_transactions` (`raw`);--> statement-breakpoint
CREATE TABLE `bridge_transfers` (
	`id` text PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`state` text NOT NULL,
	`from_chain_id` integer NOT NULL,
	`to_chain_id` integer NOT NULL,
	`amount` text NOT NULL,
	`max_fee` text NOT NULL,
	`recipient` text NOT NULL,
	`mint_recipient` text NOT NULL,
	`sender` text,
	`use_forwarder` integer NOT NULL,
	`min_finality_threshold` integer NOT NULL,
	`hook_data` text NOT NULL,
	`authorization` text,
	`estimated_time` text NOT NULL,
	`destination_block` integer NOT NULL,
	`transaction_hash` text,
	`burn_hash` text,
	`message_index` integer,
	`message` text,
	`attestation` text,
	`fee_executed` text,
	`delay_reason` text,
	`mint_hash` text,
	`attention` text,
	`checks` integer NOT NULL,
	`next_check_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`state_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `bridge_transfers_due` ON `bridge_transfers` (`state`,`next_check_at`);--> statement-breakpoint
CREATE INDEX `bridge_transfers_key` ON `bridge_transfers` (`key_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `bridge_transfers_created` ON `bridge_transfers` (`created_at`);--> statement-breakpoint
CREATE TABLE `leases` (
	`name` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`until` integer NOT NULL
);
