/** Ids that share one random part; the last three digits tell them apart. */
const IDS_PER_PART = 4_096;
const PART_LENGTH = 33;

const endings = Array.from({ length: IDS_PER_PART }, (_, index) =>
  index.toString(16).padStart(3, "0"),
);
let part = "";
let used = IDS_PER_PART;

/**
 * Begins a new request id, which has the form of a UUID: `requestIdPart()` and what is returned.
 * Making a random one for each request costs as much as a check, and joining the parts half of it.
 */
export function newRequestIdEnding(): string {
  if (used === IDS_PER_PART) {
    part = crypto.randomUUID().slice(0, PART_LENGTH);
    used = 0;
  }
  return endings[used++] ?? "";
}

/** What the id begins with whose ending was made last. */
export function requestIdPart(): string {
  return part;
}
