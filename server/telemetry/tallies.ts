// Counters and histograms for the hot path: counting is a write into an array, and the text that
// Prometheus reads is made when it asks. They register beside the library's own metrics.

type Labels = Readonly<Record<string, string>>

/** What the registry asks a metric for. */
interface Sample {
  metricName?: string
  labels: Labels
  value: number
}

interface Samples {
  name: string
  help: string
  type: 'counter' | 'histogram'
  aggregator: 'sum'
  values: Sample[]
}

/** No list of labels that we use comes near it: whatever goes wrong, memory does not grow with it. */
const CHILDREN_MAX = 5_000

/** A counter with labels. `child` finds or makes one; whoever counts often keeps it. */
export class Tally {
  readonly name: string
  readonly aggregator = 'sum'
  readonly type = 'counter'
  readonly #help: string
  readonly #children = new Map<string, TallyChild>()

  constructor(name: string, help: string) {
    this.name = name
    this.#help = help
  }

  child(labels: Labels = {}): TallyChild {
    const key = Object.values(labels).join('\n')
    return findOrMake(this.#children, key, () => new TallyChild(labels))
  }

  get(): Samples {
    const values = [...this.#children.values()].map(({ labels, count }) => ({
      labels,
      value: count,
    }))
    return { name: this.name, help: this.#help, type: 'counter', aggregator: 'sum', values }
  }

  reset(): void {
    for (const child of this.#children.values()) child.count = 0
  }
}

export class TallyChild {
  readonly labels: Labels
  count = 0

  constructor(labels: Labels) {
    this.labels = labels
  }
}

/** A histogram with labels, or without. */
export class Spread {
  readonly name: string
  readonly aggregator = 'sum'
  readonly type = 'histogram'
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #children = new Map<string, SpreadChild>()

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name
    this.#help = help
    this.#bounds = bounds
  }

  child(labels: Labels = {}): SpreadChild {
    const key = Object.values(labels).join('\n')
    return findOrMake(this.#children, key, () => new SpreadChild(labels, this.#bounds))
  }

  get(): Samples {
    const values = [...this.#children.values()].flatMap((child) => child.samples(this.name))
    return { name: this.name, help: this.#help, type: 'histogram', aggregator: 'sum', values }
  }

  reset(): void {
    for (const child of this.#children.values()) child.reset()
  }
}

export class SpreadChild {
  readonly #labels: Labels
  readonly #bounds: Float64Array
  /** The last one counts what is above all bounds. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(labels: Labels, bounds: readonly number[]) {
    this.#labels = labels
    this.#bounds = Float64Array.from(bounds)
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let bucket = 0
    // Most of what is measured is short, and the lists are: a plain walk beats a search by halves.
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#sum += value
  }

  reset(): void {
    this.#counts.fill(0)
    this.#sum = 0
  }

  samples(name: string): Sample[] {
    const samples: Sample[] = []
    let total = 0
    for (let bucket = 0; bucket < this.#counts.length; bucket++) {
      total += this.#counts[bucket] as number
      const bound = this.#bounds[bucket]
      const le = bound === undefined ? '+Inf' : String(bound)
      samples.push({ metricName: `${name}_bucket`, labels: { le, ...this.#labels }, value: total })
    }
    samples.push({ metricName: `${name}_sum`, labels: this.#labels, value: this.#sum })
    samples.push({ metricName: `${name}_count`, labels: this.#labels, value: total })
    return samples
  }
}

/** Past the limit all that is new shares one child, under the labels of whoever came first. */
function findOrMake<C>(children: Map<string, C>, key: string, make: () => C): C {
  const known = children.get(key)
  if (known !== undefined) return known
  if (children.size >= CHILDREN_MAX) return children.values().next().value as C
  const child = make()
  children.set(key, child)
  return child
}
