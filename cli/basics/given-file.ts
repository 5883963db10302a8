// Files that a command is given by their path, or on stdin. What cannot be read is the caller's mistake, said in a sentence.

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { describeFault } from './describe-fault.ts'
import { UsageError } from './run.ts'

export function readGivenBytes(path: string): Promise<Buffer> {
  return readFile(path).catch(refuse)
}

export function readGivenText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(refuse)
}

/** `-` is what comes on stdin. */
export function readGivenOrInput(path: string): Promise<string> {
  return path === '-' ? text(process.stdin).catch(refuse) : readGivenText(path)
}

/** Certificates or keys: what is in it, if it is PEM at all. What is wrong with it otherwise is the service's to say. */
export function readPemFile(path: string): string {
  const pem = readNow(path)
  if (!pem.includes('-----BEGIN ')) {
    throw new UsageError(
      `${path} is not PEM: it has no line such as "-----BEGIN CERTIFICATE-----".`,
    )
  }
  return pem
}

function readNow(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    return refuse(error)
  }
}

function refuse(error: unknown): never {
  throw new UsageError(describeFault(error))
}
