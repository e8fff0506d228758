ALTER TABLE `keys` ADD `bridge_per_transfer_atomic` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `bridge_per_day_atomic` text;