/** Ids in one query; databases bound the number of parameters. */
const MAX_IDS = 10_000;

/** Splits ids into lists short enough for one query each. */
export function chunksOf(ids: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(ids.length / MAX_IDS);
  return Array.from({ length: count }, (_, index) =>
    ids.slice(index * MAX_IDS, (index + 1) * MAX_IDS),
  );
}
