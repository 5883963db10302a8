// Writes a file of the repository that is made from others. One that is as it should be is left alone: another
// process may be reading it.

import { readFileSync, writeFileSync } from 'node:fs'

export function writeChanged(file: string, text: string): void {
  if (readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
}
