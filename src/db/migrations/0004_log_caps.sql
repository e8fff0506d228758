CREATE TABLE `log_caps` (
	`chain_id` integer NOT NULL,
	`upstream` text NOT NULL,
	`max_blocks` integer,
	`max_results` integer,
	`learned_at` integer NOT NULL,
	PRIMARY KEY(`chain_id`, `upstream`)
);
--> statement-breakpoint
CREATE TABLE `upstream_changes` (
	`id` text PRIMARY KEY NOT NULL,
	`chain_id` integer NOT NULL,
	`kind` text NOT NULL,
	`sealed` text,
	`changed_at` integer NOT NULL
);
