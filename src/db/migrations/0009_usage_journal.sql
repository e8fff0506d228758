CREATE TABLE `usage_fold` (
	`owner` text NOT NULL,
	`through` integer NOT NULL,
	`folded_to` text
);
--> statement-breakpoint
CREATE TABLE `usage_journal` (
	`seq` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`charges` text NOT NULL
);
--> statement-breakpoint
INSERT INTO `usage_fold` (`owner`, `through`) VALUES ('', 0);
