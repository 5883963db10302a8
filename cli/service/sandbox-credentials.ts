// What the sandbox remembers between starts: its keys, and the client that it shows newcomers. Kept in
// files that only their owner can read.

import { randomBytes } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SANDBOX_FILE, type SandboxFile } from '../basics/sandbox-file.ts'

export interface SandboxKeys {
  masterKey: Buffer
  operatorKey: string
}

export interface SandboxClient {
  clientId: string
  clientSecret: string
  accountId: string
}

const KEYS_FILE = 'keys.json'
const CLIENT_FILE = 'client.json'

/** The keys of this data directory, made at the first start. */
export async function loadKeys(dataDir: string): Promise<SandboxKeys> {
  const stored = await readJson(join(dataDir, KEYS_FILE))
  if (stored) {
    return {
      masterKey: Buffer.from(String(stored.masterKey), 'base64'),
      operatorKey: String(stored.operatorKey),
    }
  }
  const keys = {
    masterKey: randomBytes(32),
    operatorKey: `pbo_${randomBytes(32).toString('base64url')}`,
  }
  await writePrivate(join(dataDir, KEYS_FILE), {
    masterKey: keys.masterKey.toString('base64'),
    operatorKey: keys.operatorKey,
  })
  return keys
}

export async function loadClient(dataDir: string): Promise<SandboxClient | null> {
  const stored = await readJson(join(dataDir, CLIENT_FILE))
  if (!stored) return null
  const { clientId, clientSecret, accountId } = stored as Record<string, string>
  return clientId && clientSecret && accountId ? { clientId, clientSecret, accountId } : null
}

export async function saveClient(dataDir: string, client: SandboxClient): Promise<void> {
  await writePrivate(join(dataDir, CLIENT_FILE), client)
}

export async function saveSandboxFile(dataDir: string, content: SandboxFile): Promise<string> {
  const path = join(dataDir, SANDBOX_FILE)
  await writePrivate(path, content)
  return path
}

/** An old one would claim that everything works while we are still starting. */
export async function removeSandboxFile(dataDir: string): Promise<void> {
  await rm(join(dataDir, SANDBOX_FILE), { force: true })
}

async function readJson(path: string): Promise<Record<string, unknown> | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(`${path} cannot be read: ${(error as Error).message}`)
  }
}

/** Whole or not at all, and never readable by others, not even for a moment. */
async function writePrivate(path: string, content: object): Promise<void> {
  const draft = `${path}.new`
  await rm(draft, { force: true })
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flush: true })
  await rename(draft, path)
}
