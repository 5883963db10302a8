// The option that names the header of the HMAC, for endpoints that have chosen one.

import { type Command, InvalidArgumentError } from 'commander'
import { HMAC_HEADER } from '../../server/core/signatures/callback-headers.ts'
import { checkHmacHeaderName } from '../../server/core/signatures/hmac-header-name.ts'

export interface HmacHeaderOptions {
  hmacHeaderName?: string
}

export function withHmacHeader(command: Command): Command {
  return command.option(
    '--hmac-header-name <name>',
    `the header of the HMAC, where the endpoint has chosen one (default: ${HMAC_HEADER})`,
    parseHeaderName,
  )
}

function parseHeaderName(text: string): string {
  const fault = checkHmacHeaderName(text)
  if (fault !== null) throw new InvalidArgumentError(fault.detail)
  return text
}
