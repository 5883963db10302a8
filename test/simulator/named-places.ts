// Finds what a mutant names, wherever its file is: `Lanes.restMs`, `nextStep`, or a constant of a module. Where two files
// have the name, the file's own comes first, without its folder: `strand:hasBegun`. Tests are found by their file's name.

import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { parseFile, type SyntaxNode } from './syntax.ts'

/** What may declare a name; which of these do at their top is asked of the syntax. */
const DECLARED = /\b(?:function\*?|class|const|let)\s+(\w+)/g

export class NamedPlaces {
  readonly #root: string
  readonly #tests: string[] = []
  readonly #texts = new Map<string, string>()
  readonly #programs = new Map<string, SyntaxNode>()
  readonly #filesByName = new Map<string, Set<string>>()

  constructor(root: string) {
    this.#root = root
    const exclude = ['**/node_modules/**']
    for (const file of globSync('{server,test}/**/*.ts', { cwd: root, exclude })) {
      if (file.endsWith('.test.ts')) this.#tests.push(file)
      else if (file.startsWith('server/')) this.#take(file)
    }
  }

  #take(file: string): void {
    const text = readFileSync(join(this.#root, file), 'utf8')
    this.#texts.set(file, text)
    for (const [, name = ''] of text.matchAll(DECLARED)) {
      const files = this.#filesByName.get(name) ?? new Set()
      this.#filesByName.set(name, files.add(file))
    }
  }

  /** From the project's root on. */
  fileOf(place: string): string {
    const { base, top } = partsOf(place)
    const files = [...(this.#filesByName.get(top) ?? [])].filter(
      (file) =>
        (base === null || basename(file) === `${base}.ts`) &&
        findPlace(this.programOf(file), place) !== null,
    )
    const hint = files.length > 1 ? '; name one as file:name' : ''
    return only(files, `${place} below server/`, hint)
  }

  /** `shards.test` is `server/…/shards.test.ts`. Of several, its folder says which: `owed/deliveries.test`. */
  testOf(name: string): string {
    const files = this.#tests.filter((file) => file.endsWith(`/${name}.ts`))
    return only(files, `the name ${name}.ts`)
  }

  textOf(file: string): string {
    return this.#texts.get(file) ?? ''
  }

  programOf(file: string): SyntaxNode {
    const program = this.#programs.get(file) ?? parseFile(this.textOf(file))
    this.#programs.set(file, program)
    return program
  }

  /** How one file imports what another one exports. */
  pathFrom(file: string, name: string): string {
    const path = relative(dirname(file), this.fileOf(name))
    return path.startsWith('.') ? path : `./${path}`
  }
}

/** The declaration at the top of a file, or the member of such a class; null when it has none. */
export function findPlace(program: SyntaxNode, place: string): SyntaxNode | null {
  const { top, member } = partsOf(place)
  const declared = (program.body as readonly SyntaxNode[])
    .flatMap(declarationsOf)
    .find((node) => isNamed(node.id, top))
  if (member === null || declared === undefined) return declared ?? null
  const { body } = (declared.body ?? {}) as { body?: readonly SyntaxNode[] }
  return Array.isArray(body) ? (body.find(({ key }) => isNamed(key, member)) ?? null) : null
}

function declarationsOf(statement: SyntaxNode): readonly SyntaxNode[] {
  const declaration = (statement.declaration ?? statement) as SyntaxNode
  if (declaration.type === 'VariableDeclaration') {
    return declaration.declarations as readonly SyntaxNode[]
  }
  return /^(Function|Class)Declaration$/.test(declaration.type) ? [declaration] : []
}

function isNamed(key: unknown, name: string): boolean {
  const { type, name: found } = (key ?? {}) as { type?: string; name?: string }
  return (type === 'PrivateIdentifier' ? `#${found}` : found) === name
}

function partsOf(place: string): { base: string | null; top: string; member: string | null } {
  const [name = '', base = null] = place.split(':').toReversed()
  const [top = '', member = null] = name.split('.')
  return { base, top, member }
}

function only(files: readonly string[], what: string, hint = ''): string {
  const [file] = files
  if (file !== undefined && files.length === 1) return file
  throw new Error(`${files.length} files have ${what}: ${files.join(', ')}${hint}`)
}
