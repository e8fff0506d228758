import type { Static, TSchema } from "@sinclair/typebox";
import { readJson } from "../lib/http.ts";
import type { Call } from "./endpoint.ts";

const MAX_BODY_BYTES = 65_536;

/** Reads the JSON body of a console request. @throws ApiError as `readJson` */
export function readConsoleBody<Schema extends TSchema>(
  { request }: Call,
  schema: Schema,
): Promise<Static<Schema>> {
  return readJson(request, schema, {
    maxBytes: MAX_BODY_BYTES,
    missing: (field) => `Missing required field: ${field}`,
  });
}
