import { Counter, Histogram, type Registry } from "prom-client";

/** The value of a label. */
type Label = string | number;

/** The values of a metric's labels, in the order of their names; there are four at most. */
type Labels = readonly (Label | undefined)[];

interface Entry<Row> {
  readonly labels: Labels;
  readonly row: Row;
}

/** Rows looked at one by one before they are looked up; as many as a chain has nodes, or more. */
const MAX_RECENT = 8;

/**
 * Rows of a metric by the values of its labels. Found by one look-up per label, where prom-client
 * joins all names and values to a text each time. Rows are as many as the label sets in use, which
 * the caller keeps few.
 */
class Rows<Row> {
  readonly all: Entry<Row>[] = [];
  readonly #root: Branch<Row> = new Map();
  /** What was looked up of late is most often what is looked up next. */
  readonly #recent: Entry<Row>[] = [];
  #oldest = 0;

  constructor(private readonly create: () => Row) {}

  /** Labels come one by one, since a list of them would be made for each look-up. */
  at(one: Label, two?: Label, three?: Label, four?: Label): Row {
    const recent = this.#recent;
    for (let index = 0; index < recent.length; index++) {
      const entry = recent[index];
      if (entry && isOf(entry.labels, one, two, three, four)) return entry.row;
    }
    const entry = this.#find([one, two, three, four]);
    recent[this.#oldest] = entry;
    this.#oldest = (this.#oldest + 1) % MAX_RECENT;
    return entry.row;
  }

  #find(labels: Labels): Entry<Row> {
    let branch = this.#root;
    for (const label of labels.slice(0, -1)) {
      let next = branch.get(label);
      if (!(next instanceof Map)) branch.set(label, (next = new Map()));
      branch = next;
    }
    const last = labels.at(-1);
    const found = branch.get(last);
    if (found !== undefined && !(found instanceof Map)) return found;
    const entry = { labels, row: this.create() };
    branch.set(last, entry);
    this.all.push(entry);
    return entry;
  }
}

/** The label that differs most often is compared first. */
function isOf(labels: Labels, one: Label, two?: Label, three?: Label, four?: Label): boolean {
  return labels[1] === two && labels[3] === four && labels[2] === three && labels[0] === one;
}

type Branch<Row> = Map<Label | undefined, Entry<Row> | Branch<Row>>;

/** What names a metric. */
interface Names {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** A counter that costs nearly nothing to count up; prom-client sees it when it is scraped. */
export class TallyCounter {
  readonly #rows = new Rows(() => new Count());

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

  /** The count under these values of the labels, in the order of the names. */
  at(one: Label, two?: Label, three?: Label, four?: Label): Count {
    return this.#rows.at(one, two, three, four);
  }
}

/** One row of a counter. */
class Count {
  value = 0;

  add(count = 1): void {
    this.value += count;
  }
}

/** One row of a histogram. */
class Distribution {
  /** Observations per bucket, not cumulative; the last is above all bounds. */
  readonly counts: number[];
  sum = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = [...bounds.map(() => 0), 0];
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    this.sum += value;
    let bucket = 0;
    while (value > (bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
}

/** A histogram that costs nearly nothing to observe; prom-client sees it when it is scraped. */
export class TallyHistogram {
  readonly #rows: Rows<Distribution>;

  /** @param bounds - upper bounds of the buckets, ascending */
  constructor(registry: Registry, names: Names, bounds: readonly number[]) {
    this.#rows = new Rows(() => new Distribution(bounds));
    registry.registerMetric(new ScrapedHistogram(names, bounds, this.#rows));
  }

  /** The row under these values of the labels, in the order of the names. */
  at(one: Label, two?: Label, three?: Label, four?: Label): Distribution {
    return this.#rows.at(one, two, three, four);
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
