// Recipes of the documentation, in languages that may or may not be on this machine: found on their page, and run in a
// folder of their own. What takes long is left to the full size.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { limitOf } from './busy-machine.ts'
import type { Owner } from './owner.ts'
import { sized } from './size.ts'

/** To compile one takes longer than to run all others, and Go begins with its standard library; in Shell every case
 *  starts a dozen programs. */
const SLOW: readonly string[] = ['Go', 'Java', 'C#', 'Shell']

const run = promisify(execFile)

/** One language of a page. */
export interface Language {
  /** The mark of the block in the page. */
  mark: string
  /** Why it cannot be run here; null when it can. */
  whyNot(): string | null
  /** Files from the recipe, with what reads the cases and prints a line for each. */
  files(recipe: string): Record<string, string>
  /** Is given the file of cases. */
  command: readonly [string, ...string[]]
}

/** Those that a test of this size runs. */
export function languagesOfThisSize<T>(
  languages: Readonly<Record<string, T>>,
): readonly [string, T][] {
  return Object.entries(languages).filter(([name]) => sized(!SLOW.includes(name), true))
}

/** Declares a test for each language, and one that no recipe of the page is left out. */
export function testRecipes(options: {
  page: string
  /** The second mark of the blocks. */
  mark: string
  /** Of the tests' names. */
  what: string
  languages: Readonly<Record<string, Language>>
  /** The text of the file of cases, and the line that each has to print, in lower case. */
  input: string
  expected: readonly { line: string; of: string }[]
}): void {
  const { page, mark, what, languages, input, expected } = options
  for (const [name, language] of languagesOfThisSize(languages)) {
    test(`${what} in ${name} takes what is signed and refuses what is not`, {
      skip: language.whyNot() ?? false,
    }, async (t) => {
      const recipe = findRecipe(page, language.mark, mark)
      const files = { ...language.files(recipe), cases: input }
      const said = (await runRecipe(t, files, language.command)).trim().toLowerCase().split('\n')
      assert.equal(said.length, expected.length)
      for (const [index, { line, of }] of expected.entries()) assert.equal(said[index], line, of)
    })
  }

  test(`${what} of the page is run in every language that has one, where it can be`, () => {
    const marks = [...page.matchAll(new RegExp(`^\`\`\`(\\w+) ${mark}$`, 'gm'))]
    assert.deepEqual(
      marks.map((match) => match[1]),
      Object.values(languages).map((language) => language.mark),
    )
  })
}

/** Null when it is on the search path. */
export function without(program: string): string | null {
  return isThere(program) ? null : `${program} is not on this machine`
}

/** The launcher of Java runs the first class of a single file, and imports come before all classes. */
export function beforeJavaClass(recipe: string, main: string): string {
  const [imports, rest] = recipe.split('\nfinal class ', 2) as [string, string]
  return `${imports}\n${main}\nfinal class ${rest}`
}

function isThere(program: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return existsSync(program) || folders.some((folder) => existsSync(join(folder, program)))
}

/** The block of a page that begins with both marks, such as `ts recipe`. */
export function findRecipe(page: string, language: string, mark: string): string {
  const recipe = new RegExp(`^\`\`\`${language} ${mark}\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1]
  assert.ok(recipe, 'the page has no such block')
  return recipe
}

/** For the tools of a language: what they make on their way, and leave when they are killed, goes with the folder. Java has it
 *  by another name, and counters for other tools in /tmp in any case; Go takes no module right in a temporary folder. */
export function environmentIn(folder: string): NodeJS.ProcessEnv {
  const temporary = join(folder, 'temporary')
  mkdirSync(temporary, { recursive: true })
  return {
    ...process.env,
    TMPDIR: temporary,
    JAVA_TOOL_OPTIONS: `-Djava.io.tmpdir=${temporary} -XX:-UsePerfData`,
    DOTNET_CLI_TELEMETRY_OPTOUT: '1',
  }
}

/** What it prints. The file `cases` is its argument. */
async function runRecipe(
  t: Owner,
  files: Readonly<Record<string, string>>,
  [command, ...args]: readonly [string, ...string[]],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'paybell-recipe-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text)
  const options = { cwd: folder, env: environmentIn(folder), timeout: limitOf(100_000) }
  return (await run(command, [...args, 'cases'], options)).stdout
}
