// Recipes of the documentation, in languages that may or may not be on this machine: found on their page, and run in a
// folder of their own.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Owner } from './owner.ts'

const run = promisify(execFile)

export function isThere(program: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return existsSync(program) || folders.some((folder) => existsSync(join(folder, program)))
}

/** The block of a page that begins with both marks, such as `ts recipe`. */
export function findRecipe(page: string, language: string, mark: string): string {
  const recipe = new RegExp(`^\`\`\`${language} ${mark}\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1]
  assert.ok(recipe, 'the page has no such block')
  return recipe
}

/** What it prints. The file `cases` is its argument. */
export async function runRecipe(
  t: Owner,
  files: Readonly<Record<string, string>>,
  [command, ...args]: readonly [string, ...string[]],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'paybell-recipe-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text)
  const env = { ...process.env, DOTNET_CLI_TELEMETRY_OPTOUT: '1' }
  const options = { cwd: folder, env, timeout: 100_000 }
  return (await run(command, [...args, 'cases'], options)).stdout
}
