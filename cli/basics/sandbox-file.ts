// `sandbox.json`, by which the sandbox of a data directory is found: where it listens, and its credentials.
// It is written last: when it is there, everything works.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface SandboxFile {
  baseUrl: string
  operatorKey: string
  clientId: string
  clientSecret: string
  accountId: string
}

export const SANDBOX_FILE = 'sandbox.json'

export async function readSandboxFile(dataDir: string): Promise<SandboxFile | null> {
  const path = join(dataDir, SANDBOX_FILE)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(`${path} cannot be read: ${(error as Error).message}`)
  }
  try {
    return JSON.parse(text) as SandboxFile
  } catch {
    throw new Error(`${path} is not JSON. Start the sandbox again: it writes a new one.`)
  }
}
