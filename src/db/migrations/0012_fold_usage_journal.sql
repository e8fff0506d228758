INSERT INTO `usage` (`key_id`, `hour`, `operation`, `chain_id`, `requests`, `cu`)
SELECT c.`value` ->> 0, c.`value` ->> 1, c.`value` ->> 2, c.`value` ->> 3, sum(c.`value` ->> 4), sum(c.`value` ->> 5)
FROM `usage_journal` j, `usage_fold` f, json_each(j.`charges`) c
WHERE j.`seq` > f.`through` OR c.`value` ->> 0 > f.`folded_to`
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4
ON CONFLICT DO UPDATE SET `requests` = `requests` + excluded.`requests`, `cu` = `cu` + excluded.`cu`;
--> statement-breakpoint
INSERT INTO `key_last_used` (`key_id`, `at`)
SELECT c.`value` ->> 0, max(j.`at`)
FROM `usage_journal` j, `usage_fold` f, json_each(j.`charges`) c
WHERE j.`at` > 0 AND (j.`seq` > f.`through` OR c.`value` ->> 0 > f.`folded_to`)
GROUP BY 1
ON CONFLICT DO UPDATE SET `at` = max(`at`, excluded.`at`);
--> statement-breakpoint
DROP TABLE `usage_fold`;--> statement-breakpoint
DROP TABLE `usage_journal`;