// A secret that is asked for: on a terminal, without showing it; from a script, the first line of stdin. Never an
// argument, which other people on the machine can read.

import { text as readAll } from 'node:stream/consumers'
import { SilentFailure } from './run.ts'

const ENTER = /[\r\n]/
const CTRL_C = '\u0003'
const ERASE = /[\u007f\b]/
const CHARACTERS_MAX = 4_096

export async function readSecret(question: string): Promise<string> {
  const { stdin, stderr } = process
  if (stdin.isTTY !== true) return (await readAll(stdin)).split(/\r?\n/)[0]?.trim() ?? ''
  stderr.write(`${question}: `)
  stdin.setRawMode(true).setEncoding('utf8').resume()
  try {
    let secret = ''
    for await (const typed of stdin) {
      for (const key of typed as string) {
        if (key === CTRL_C) throw new SilentFailure()
        if (ENTER.test(key)) return secret.trim()
        if (ERASE.test(key)) secret = secret.slice(0, -1)
        else if (key >= ' ' && secret.length < CHARACTERS_MAX) secret += key
      }
    }
    return secret.trim()
  } finally {
    stderr.write('\n')
    stdin.setRawMode(false).pause()
  }
}
