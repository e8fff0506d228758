CREATE TABLE "allowance_shares" (
	"key_id" text NOT NULL,
	"from_hour" bigint NOT NULL,
	"slot" bigint NOT NULL,
	"ceiling_cu" bigint NOT NULL,
	CONSTRAINT "allowance_shares_key_id_from_hour_slot_pk" PRIMARY KEY("key_id","from_hour","slot")
);
--> statement-breakpoint
CREATE TABLE "audit" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"at" bigint NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"subject" text NOT NULL,
	"detail" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "key_secrets" (
	"hash" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"last4" text NOT NULL,
	"created_at" bigint NOT NULL,
	"grace_until" bigint,
	"seq" bigserial NOT NULL
);
--> statement-breakpoint
CREATE TABLE "keys" (
	"id" text PRIMARY KEY NOT NULL,
	"environment" text NOT NULL,
	"name" text NOT NULL,
	"scopes" text NOT NULL,
	"window_limit" bigint,
	"cu_allowance" bigint,
	"expires_at" bigint,
	"ip_allow_list" text NOT NULL,
	"bridge_per_transfer_atomic" text,
	"bridge_per_day_atomic" text,
	"created_at" bigint NOT NULL,
	"revoked_at" bigint,
	"account_id" text
);
--> statement-breakpoint
CREATE TABLE "log_caps" (
	"chain_id" bigint NOT NULL,
	"upstream" text NOT NULL,
	"max_blocks" bigint,
	"max_results" bigint,
	"learned_at" bigint NOT NULL,
	CONSTRAINT "log_caps_chain_id_upstream_pk" PRIMARY KEY("chain_id","upstream")
);
--> statement-breakpoint
CREATE TABLE "settings" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "upstream_changes" (
	"id" text PRIMARY KEY NOT NULL,
	"chain_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"sealed" text,
	"changed_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "usage" (
	"key_id" text NOT NULL,
	"hour" bigint NOT NULL,
	"operation" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"slot" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"cu" bigint NOT NULL,
	CONSTRAINT "usage_key_id_hour_operation_chain_id_slot_pk" PRIMARY KEY("key_id","hour","operation","chain_id","slot")
);
--> statement-breakpoint
CREATE TABLE "usage_commits" (
	"process" text PRIMARY KEY NOT NULL,
	"seq" bigint NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bridge_events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"transfer_id" text NOT NULL,
	"at" bigint NOT NULL,
	"from_state" text,
	"to_state" text NOT NULL,
	"event" text NOT NULL,
	"detail" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bridge_idempotency" (
	"key_id" text NOT NULL,
	"idempotency_key" text NOT NULL,
	"body_hash" text NOT NULL,
	"transfer_id" text NOT NULL,
	CONSTRAINT "bridge_idempotency_key_id_idempotency_key_pk" PRIMARY KEY("key_id","idempotency_key")
);
--> statement-breakpoint
CREATE TABLE "bridge_nonces" (
	"chain_id" bigint NOT NULL,
	"signer" text NOT NULL,
	"nonce" bigint NOT NULL,
	"transfer_id" text NOT NULL,
	"purpose" text NOT NULL,
	"spent" boolean NOT NULL,
	CONSTRAINT "bridge_nonces_chain_id_signer_nonce_pk" PRIMARY KEY("chain_id","signer","nonce")
);
--> statement-breakpoint
CREATE TABLE "bridge_transactions" (
	"hash" text PRIMARY KEY NOT NULL,
	"transfer_id" text NOT NULL,
	"chain_id" bigint NOT NULL,
	"signer" text NOT NULL,
	"purpose" text NOT NULL,
	"nonce" bigint,
	"raw" text NOT NULL,
	"max_fee_per_gas" text,
	"max_priority_fee_per_gas" text,
	"valid_until_height" bigint,
	"created_at" bigint NOT NULL,
	"seq" bigserial NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bridge_transfers" (
	"id" text PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"state" text NOT NULL,
	"from_chain_id" bigint NOT NULL,
	"to_chain_id" bigint NOT NULL,
	"amount" text NOT NULL,
	"max_fee" text NOT NULL,
	"recipient" text NOT NULL,
	"mint_recipient" text NOT NULL,
	"sender" text,
	"use_forwarder" boolean NOT NULL,
	"min_finality_threshold" bigint NOT NULL,
	"hook_data" text NOT NULL,
	"authorization" text,
	"estimated_time" text NOT NULL,
	"destination_block" bigint NOT NULL,
	"transaction_hash" text,
	"burn_hash" text,
	"message_index" bigint,
	"message" text,
	"attestation" text,
	"fee_executed" text,
	"delay_reason" text,
	"mint_hash" text,
	"attention" text,
	"checks" bigint NOT NULL,
	"next_check_at" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"state_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"seq" bigserial NOT NULL
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"address" text NOT NULL,
	"scopes" text,
	"max_keys" bigint,
	"max_window_limit" bigint,
	"created_at" bigint NOT NULL,
	"last_sign_in_at" bigint NOT NULL,
	"disabled_at" bigint,
	CONSTRAINT "accounts_address_unique" UNIQUE("address")
);
--> statement-breakpoint
CREATE TABLE "console_sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text,
	"credential" text,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" text PRIMARY KEY NOT NULL,
	"code_hash" text NOT NULL,
	"note" text NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"account_id" text,
	"used_at" bigint,
	"revoked_at" bigint,
	CONSTRAINT "invitations_code_hash_unique" UNIQUE("code_hash")
);
--> statement-breakpoint
CREATE TABLE "key_errors" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"key_id" text NOT NULL,
	"at" bigint NOT NULL,
	"request_id" text NOT NULL,
	"operation" text,
	"method" text NOT NULL,
	"path" text NOT NULL,
	"status" bigint NOT NULL,
	"code" text NOT NULL,
	"message" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "key_last_used" (
	"key_id" text PRIMARY KEY NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_attempts" (
	"subject" text PRIMARY KEY NOT NULL,
	"started_at" bigint NOT NULL,
	"count" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_challenges" (
	"nonce" text PRIMARY KEY NOT NULL,
	"message" text NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "key_secrets" ADD CONSTRAINT "key_secrets_key_id_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."keys"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "keys" ADD CONSTRAINT "keys_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bridge_idempotency" ADD CONSTRAINT "bridge_idempotency_transfer_id_bridge_transfers_id_fk" FOREIGN KEY ("transfer_id") REFERENCES "public"."bridge_transfers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bridge_nonces" ADD CONSTRAINT "bridge_nonces_transfer_id_bridge_transfers_id_fk" FOREIGN KEY ("transfer_id") REFERENCES "public"."bridge_transfers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bridge_transactions" ADD CONSTRAINT "bridge_transactions_transfer_id_bridge_transfers_id_fk" FOREIGN KEY ("transfer_id") REFERENCES "public"."bridge_transfers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "console_sessions" ADD CONSTRAINT "console_sessions_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "key_secrets_key_id" ON "key_secrets" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "keys_account" ON "keys" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "bridge_events_transfer" ON "bridge_events" USING btree ("transfer_id");--> statement-breakpoint
CREATE INDEX "bridge_nonces_transfer" ON "bridge_nonces" USING btree ("transfer_id");--> statement-breakpoint
CREATE INDEX "bridge_transactions_transfer" ON "bridge_transactions" USING btree ("transfer_id");--> statement-breakpoint
CREATE UNIQUE INDEX "bridge_transactions_raw" ON "bridge_transactions" USING btree (md5("raw"));--> statement-breakpoint
CREATE INDEX "bridge_transfers_due" ON "bridge_transfers" USING btree ("state","next_check_at");--> statement-breakpoint
CREATE INDEX "bridge_transfers_key" ON "bridge_transfers" USING btree ("key_id","created_at");--> statement-breakpoint
CREATE INDEX "bridge_transfers_created" ON "bridge_transfers" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "console_sessions_account" ON "console_sessions" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "console_sessions_expires" ON "console_sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "key_errors_key" ON "key_errors" USING btree ("key_id","id");--> statement-breakpoint
CREATE INDEX "sign_in_attempts_started" ON "sign_in_attempts" USING btree ("started_at");--> statement-breakpoint
CREATE INDEX "sign_in_challenges_expires" ON "sign_in_challenges" USING btree ("expires_at");