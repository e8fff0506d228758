CREATE TABLE `charge_files` (
	`name` text PRIMARY KEY NOT NULL,
	`folded_to` text DEFAULT '' NOT NULL
);
