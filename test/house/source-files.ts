// The source files of the project and what each imports, read from their text: for the tests of the house.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Import {
  /** The importing file, from the project's root. */
  file: string
  /** What is imported: a file from the project's root, or the name of a package. */
  target: string
  /** By the names that they were exported under; null where all of it may be meant. */
  names: readonly string[] | null
  isPackage: boolean
  /** Erased before the program runs. */
  isTypeOnly: boolean
  /** `import('…')`: loaded when the program reaches it. */
  isDynamic: boolean
}

/** Product files by the folders that they are in; tests are left out. */
export function sourceFiles(...folders: readonly string[]): readonly string[] {
  return filesIn(...folders).filter((file) => !/\.test\.tsx?$/.test(file))
}

/** With their tests. */
export function filesIn(...folders: readonly string[]): readonly string[] {
  return globSync(
    folders.map((folder) => `${folder}/**/*.{ts,tsx}`),
    { cwd: ROOT, exclude: (path) => /(^|\/)(node_modules|dist)$/.test(path) },
  ).toSorted()
}

export function readText(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

const importsRead = new Map<string, readonly Import[]>()

/** Static and dynamic ones, and those of types alone: `import type`, `import('…').Name`. */
export function importsOf(file: string): readonly Import[] {
  const imports = importsRead.get(file) ?? importsIn(file, readText(file))
  importsRead.set(file, imports)
  return imports
}

/** `import 'one'`, `export * from 'two'`, `import three, { type four } from 'five'`; then `import('six')`. */
const STATEMENT =
  /^(?:import|export)\s+(?:(type)\s+)?(?:((?:\w+,?\s*)?(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?)?)\s*from\s+)?'([^']+)'/gm
const CALL = /(typeof\s+)?\bimport\(\s*'([^']+)'\s*\)/g

export function importsIn(file: string, text: string): readonly Import[] {
  const toImport = (from: string, how: Pick<Import, 'names' | 'isTypeOnly' | 'isDynamic'>) => {
    const isPackage = !from.startsWith('.')
    const target = isPackage ? from : normalize(join(dirname(file), from))
    return { file, target, isPackage, ...how }
  }
  const statements = [...text.matchAll(STATEMENT)].map(([, type, what = '', from = '']) =>
    toImport(from, { names: namesIn(what), isTypeOnly: !!type, isDynamic: false }),
  )
  const calls = [...text.matchAll(CALL)].map(([, type, from = '']) =>
    toImport(from, { names: null, isTypeOnly: !!type, isDynamic: true }),
  )
  return [...statements, ...calls]
}

/** Of `one, { two, three as four }`: two and three. */
function namesIn(what: string): readonly string[] | null {
  if (what.includes('*')) return null
  const [, list = ''] = /\{([^}]*)\}/.exec(what) ?? []
  return [...list.matchAll(/(?:^|,)\s*(?:type )?(\w+)/g)].map(([, name]) => name as string)
}

/** These files, and every file that one of them leads to by imports that `isFollowed` follows. */
export function reachableFrom(
  files: readonly string[],
  isFollowed: (one: Import) => boolean = () => true,
): readonly string[] {
  const reached = new Set<string>()
  const left = [...files]
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (reached.has(file)) continue
    reached.add(file)
    for (const one of importsOf(file)) {
      if (isOfCode(one) && isFollowed(one)) left.push(one.target)
    }
  }
  return [...reached]
}

/** Not of a package, a style or a JSON file. */
export function isOfCode({ isPackage, target }: Import): boolean {
  return !isPackage && /\.tsx?$/.test(target)
}
