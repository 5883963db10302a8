// What /metrics says, taken apart: every name with the labels that its samples carry.

export interface Series {
  name: string
  labels: Readonly<Record<string, string>>
  value: number
}

export function parseMetrics(text: string): readonly Series[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line)
      if (match === null) throw new Error(`not a sample: ${line}`)
      const [, name, labels = '', value] = match as unknown as [string, string, string, string]
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
      return {
        name,
        labels: Object.fromEntries(pairs.map((pair) => [pair[1] as string, pair[2] as string])),
        value: Number(value.replace('Inf', 'Infinity')),
      }
    })
}

/** Names and labels, without values, of what is ours; Node's own come and go with its collections. */
export function seriesOf(text: string): ReadonlySet<string> {
  const ours = parseMetrics(text).filter(({ name }) => /^(paybell|http)_/.test(name))
  return new Set(ours.map(({ name, labels }) => `${name}${JSON.stringify(labels)}`))
}

export function labelNames(series: readonly Series[]): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>()
  for (const { name, labels } of series) {
    const known = names.get(name) ?? new Set()
    for (const label of Object.keys(labels)) known.add(label)
    names.set(name, known)
  }
  return names
}
