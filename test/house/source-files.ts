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
  isPackage: boolean
  /** Erased before the program runs. */
  isTypeOnly: boolean
  /** `import('…')`: loaded when the program reaches it. */
  isDynamic: boolean
}

/** Product files by the folders that they are in; tests are left out. */
export function sourceFiles(...folders: readonly string[]): readonly string[] {
  return globSync(
    folders.map((folder) => `${folder}/**/*.{ts,tsx}`),
    { cwd: ROOT, exclude: ['**/node_modules/**', '**/*.test.{ts,tsx}'] },
  ).toSorted()
}

export function readText(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

/** Static and dynamic ones, and those of types alone: `import type`, `import('…').Name`. */
export function importsOf(file: string): readonly Import[] {
  const text = readText(file)
  const statements = text.matchAll(
    /^(?:import|export)\s+(?:(type)\s)?(?:[^'"`;]*?\sfrom\s+)?'([^']+)'/gm,
  )
  const calls = text.matchAll(/(typeof\s+)?\bimport\(\s*'([^']+)'\s*\)/g)
  return [
    ...[...statements].map(([, type, from]) => toImport(file, from as string, !!type, false)),
    ...[...calls].map(([, type, from]) => toImport(file, from as string, !!type, true)),
  ]
}

function toImport(file: string, from: string, isTypeOnly: boolean, isDynamic: boolean): Import {
  const isPackage = !from.startsWith('.')
  const target = isPackage ? from : normalize(join(dirname(file), from))
  return { file, target, isPackage, isTypeOnly, isDynamic }
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
      if (!one.isPackage && /\.tsx?$/.test(one.target) && isFollowed(one)) left.push(one.target)
    }
  }
  return [...reached]
}
