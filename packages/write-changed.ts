// Files of the repository that are made from others. One that is as it should be is left alone: another process may be
// reading it. With `--check` none is written, and one that differs is an error.

import { readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { parseArgs } from 'node:util'

/** True where a script is asked with `--check`; throws for any other argument. */
export function isCheckOnly(args: readonly string[] = process.argv.slice(2)): boolean {
  const options = { check: { type: 'boolean', default: false } } as const
  return parseArgs({ args: [...args], options }).values.check
}

/** Says what came of it. */
export function writeChanged(file: string, text: string, isCheck: boolean): void {
  const isAsItShouldBe = readFileSync(file, 'utf8') === text
  const name = relative(process.cwd(), file)
  if (isCheck && !isAsItShouldBe) throw new Error(`${name} differs from what it is made from`)
  if (!isAsItShouldBe) writeFileSync(file, text)
  console.log(isCheck ? `${name} is as it should be.` : `${name} is written.`)
}
