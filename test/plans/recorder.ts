// Notes every statement that the store sends through a pool, and the line of the store that sent it. So the
// list of statements is complete when every line that can send one has done so.

import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Pool, PoolClient } from 'pg'

const STORE = fileURLToPath(new URL('../../server/store/', import.meta.url))

/** These pass on what another file of the store asks. */
const PASSING_ON = new Set(['snapshot.ts', 'db.ts'])

/** Lines that steer a transaction and do nothing else. */
const CONTROL = /\.query\(['`](begin|commit|rollback|savepoint|release|set) /

/** What has a plan. */
const PLANNED = /^\s*(select|with|insert|update|delete)\b/i

export interface Statement {
  /** File and function, and what tells it from others of the same function. */
  name: string
  file: string
  text: string
  values: readonly unknown[]
  /** The name by which a connection prepares it once, for any parameters; null: planned each time. */
  preparedAs: string | null
  /** Its transaction has lifted what keeps prepared statements from reading whole tables. */
  isLifted: boolean
}

interface Site {
  /** Its name alone: no two files of the store have the same. */
  file: string
  line: number
}

export class Recorder {
  readonly pool: Pool
  readonly #statements = new Map<string, Statement & { label: string }>()
  readonly #seen = new Set<string>()
  #label = ''

  constructor(pool: Pool) {
    this.pool = this.#watch(pool, { connect: async () => this.#watch(await pool.connect(), {}) })
  }

  /** The same thing, whose statements are noted. */
  #watch<T extends Pool | PoolClient>(target: T, other: Record<string, unknown>): T {
    let isLifted = false
    const query = (...args: unknown[]) => {
      if (typeof args[0] === 'string') {
        if (args[0].includes('set local enable_seqscan = on')) isLifted = true
        if (/^(commit|rollback)$/.test(args[0])) isLifted = false
      }
      this.#note(args, isLifted)
      return (target.query as (...args: unknown[]) => unknown).apply(target, args)
    }
    const own: Record<PropertyKey, unknown> = { ...other, query }
    return new Proxy(target, {
      get(of, key) {
        if (key in own) return own[key]
        const value: unknown = Reflect.get(of, key, of)
        return typeof value === 'function' ? value.bind(of) : value
      },
    })
  }

  /** `label` tells the variants of one statement from each other. */
  async record(label: string, run: () => unknown): Promise<void> {
    this.#label = label
    await run()
  }

  get statements(): readonly Statement[] {
    const all = [...this.#statements.values()]
    const times = Map.groupBy(all, ({ name }) => name)
    const given = new Map<string, number>()
    return all.map(({ label, name, ...rest }) => {
      const isAlone = times.get(name)?.length === 1
      const full = isAlone || label === '' ? name : `${name} ${label}`
      const count = (given.get(full) ?? 0) + 1
      given.set(full, count)
      return { ...rest, name: count === 1 ? full : `${full} ${count}` }
    })
  }

  /** Lines of the store that can send a statement and have not, but for the files of `besides`. */
  findUnseen(besides: ReadonlySet<string>): readonly string[] {
    return listSites()
      .filter(({ file }) => !besides.has(file))
      .map(({ file, line }) => `${file}:${line}`)
      .filter((site) => !this.#seen.has(site))
  }

  #note([config, given]: unknown[], isLifted: boolean): void {
    const site = findCaller()
    if (site === null) return
    this.#seen.add(`${site.file}:${site.line}`)
    const { text, name, values } =
      typeof config === 'string'
        ? { text: config, values: given, name: undefined }
        : (config as { text: string; name?: string; values?: unknown })
    if (!PLANNED.test(text)) return
    const key = withoutBounds(text)
    if (this.#statements.has(key)) return
    this.#statements.set(key, {
      name: `${site.file.replace(/\.ts$/, '')}.${enclosingFunction(site)}`,
      label: this.#label,
      file: site.file,
      text,
      values: Array.isArray(values) ? values : [],
      preparedAs: name ?? null,
      isLifted,
    })
  }
}

/** The same statement about other days is the same statement. */
function withoutBounds(text: string): string {
  return text.replace(/'[0-9a-f-]{36}'|'\d{4}-\d\d-\d\d(T[\d:.]+Z)?'/g, '…').replace(/\s+/g, ' ')
}

function findCaller(): Site | null {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 20
  const stack = new Error().stack ?? ''
  Error.stackTraceLimit = limit
  for (const [, path = '', line] of stack.matchAll(/file:\/\/(\/[^\s()]+?):(\d+):\d+/g)) {
    const file = basename(path)
    if (path.startsWith(STORE) && !PASSING_ON.has(file)) return { file, line: Number(line) }
  }
  return null
}

function listSites(): readonly Site[] {
  return storeFiles().flatMap((file) =>
    linesOf(file).flatMap((text, index) =>
      /\.query[<(]/.test(text) && !CONTROL.test(text) ? [{ file, line: index + 1 }] : [],
    ),
  )
}

const paths = new Map(globSync('**/*.ts', { cwd: STORE }).map((path) => [basename(path), path]))

/** From the store's folder. */
function pathOf(file: string): string {
  return paths.get(file) ?? file
}

function storeFiles(): readonly string[] {
  return [...paths.keys()]
    .filter((file) => !file.endsWith('.test.ts') && !PASSING_ON.has(file))
    .toSorted()
}

const linesRead = new Map<string, readonly string[]>()

function linesOf(file: string): readonly string[] {
  const known = linesRead.get(file) ?? readFileSync(STORE + pathOf(file), 'utf8').split('\n')
  linesRead.set(file, known)
  return known
}

function enclosingFunction({ file, line }: Site): string {
  for (const text of linesOf(file).slice(0, line).toReversed()) {
    const found = /^(?:export )?(?:async )?function (\w+)|^ {2}(?:async )?#?(\w+)\(.*\{$/.exec(text)
    const name = found?.[1] ?? found?.[2]
    if (name !== undefined && name !== 'constructor') return name
  }
  return 'statement'
}
