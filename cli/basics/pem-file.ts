// Files with certificates and keys, which commands are given by their path.

import { readFileSync } from 'node:fs'
import { describeFault } from './describe-fault.ts'
import { UsageError } from './run.ts'

/** What is in it, if it is PEM at all. What is wrong with it otherwise is the service's to say. */
export function readPemFile(path: string): string {
  const text = readText(path)
  if (!text.includes('-----BEGIN ')) {
    throw new UsageError(
      `${path} is not PEM: it has no line such as "-----BEGIN CERTIFICATE-----".`,
    )
  }
  return text
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(describeFault(error))
  }
}
