import { Counter, Histogram, type Registry } from "prom-client";

/** The values of a metric's labels, in the order of their names. */
type Labels = readonly (string | number)[];

/**
 * Rows of a metric by the values of its labels. Found by one look-up per label, where prom-client
 * joins all names and values to a text each time. Rows are as many as the label sets in use, which
 * the caller keeps few.
 */
class Rows<Row> {
  readonly all: { readonly labels: Labels; readonly row: Row }[] = [];
  readonly #root: Branch<Row> = new Map();
  /** What was looked up last is most often what is looked up next. */
  #last: { readonly labels: Labels; readonly row: Row } | undefined;

  constructor(private readonly create: () => Row) {}

  at(labels: Labels): Row {
    if (this.#last && isSame(this.#last.labels, labels)) return this.#last.row;
    const row = this.#find(labels);
    this.#last = { labels, row };
    return row;
  }

  #find(labels: Labels): Row {
    let branch = this.#root;
    const last = labels.length - 1;
    for (let index = 0; index < last; index++) {
      const label = labels[index] ?? "";
      let next = branch.get(label);
      if (!(next instanceof Map)) branch.set(label, (next = new Map()));
      branch = next;
    }
    const found = branch.get(labels[last] ?? "");
    if (found !== undefined && !(found instanceof Map)) return found;
    const row = this.create();
    branch.set(labels[last] ?? "", row);
    this.all.push({ labels, row });
    return row;
  }
}

function isSame(one: Labels, other: Labels): boolean {
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}

type Branch<Row> = Map<string | number, Row | Branch<Row>>;

/** What names a metric. */
interface Names {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** A counter that costs nearly nothing to count up; prom-client sees it when it is scraped. */
export class TallyCounter {
  readonly #rows = new Rows(() => ({ value: 0 }));

  constructor(registry: Registry, names: Names) {
    const rows = this.#rows;
    const metric = new Counter({
      ...names,
      registers: [],
      collect() {
        this.reset();
        for (const { labels, row } of rows.all) this.inc(toObject(names, labels), row.value);
      },
    });
    registry.registerMetric(metric);
  }

  /** @param labels - values in the order of the names */
  add(labels: Labels, count = 1): void {
    this.#rows.at(labels).value += count;
  }
}

interface Distribution {
  /** Observations per bucket, not cumulative; the last is above all bounds. */
  readonly counts: number[];
  sum: number;
}

/** A histogram that costs nearly nothing to observe; prom-client sees it when it is scraped. */
export class TallyHistogram {
  readonly #rows: Rows<Distribution>;

  /** @param bounds - upper bounds of the buckets, ascending */
  constructor(
    registry: Registry,
    names: Names,
    private readonly bounds: readonly number[],
  ) {
    const empty = [...bounds.map(() => 0), 0];
    this.#rows = new Rows(() => ({ counts: [...empty], sum: 0 }));
    registry.registerMetric(new ScrapedHistogram(names, bounds, this.#rows));
  }

  /** @param labels - values in the order of the names */
  observe(labels: Labels, value: number): void {
    const row = this.#rows.at(labels);
    row.sum += value;
    let bucket = 0;
    while (value > (this.bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    row.counts[bucket] = (row.counts[bucket] ?? 0) + 1;
  }
}

/** Answers prom-client's registry with the rows of a tally. */
class ScrapedHistogram extends Histogram {
  constructor(
    private readonly names: Names,
    private readonly bounds: readonly number[],
    private readonly rows: Rows<Distribution>,
  ) {
    super({ ...names, labelNames: [...names.labelNames], buckets: [...bounds], registers: [] });
  }

  /** What the registry asks for; `get` of prom-client builds on it. */
  async getForPromString() {
    const { name, help } = this.names;
    return { name, help, type: "histogram", aggregator: "sum", values: this.#values() };
  }

  #values() {
    const { name } = this.names;
    return this.rows.all.flatMap(({ labels, row }) => {
      const sharedLabels = toObject(this.names, labels);
      let total = 0;
      const buckets = row.counts.map((count, index) => {
        total += count;
        const le = this.bounds[index] ?? "+Inf";
        return { sharedLabels, labels: { le }, value: total, metricName: `${name}_bucket` };
      });
      return [
        ...buckets,
        { sharedLabels, labels: {}, value: row.sum, metricName: `${name}_sum` },
        { sharedLabels, labels: {}, value: total, metricName: `${name}_count` },
      ];
    });
  }
}

function toObject({ labelNames }: Names, labels: Labels): Record<string, string | number> {
  return Object.fromEntries(labelNames.map((name, index) => [name, labels[index] ?? ""]));
}
