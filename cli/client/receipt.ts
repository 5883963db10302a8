// `paybell receipt …`: gets the signed receipt of a delivery, and checks one with the service's public keys.

import type { Command } from 'commander'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import { type KeySet, verifyReceipt } from '../../sdk/src/proving/signed.ts'
import type { Receipt } from '../../sdk/src/wire/types.ts'
import {
  type Call,
  calling,
  family,
  JSON_HELP,
  plainCommand,
  readerCommand,
} from '../basics/command.ts'
import { readGivenOrInput } from '../basics/given-file.ts'
import { webUrl } from '../basics/parse.ts'
import { SilentFailure } from '../basics/run.ts'
import { KEYS_PATH, readKeySet, toKeySet } from './key-set.ts'

export function receiptCommand(): Command {
  return family('receipt', 'Signed receipts: that an event was delivered, when and where.', [
    get(),
    verify(),
  ])
}

function get(): Command {
  return readerCommand('get', 'Print the receipt of a delivery, to keep or to pass on.', [
    'paybell receipt get 01a1dd3c-57d6-7001-9e6f-60de241483ec > receipt.jws',
  ])
    .argument('<delivery id>', 'the delivery, which must be DELIVERED')
    .action(
      calling(async (call: Call, id: string) => {
        const { api, isOperator } = await call.target.reader()
        const side = isOperator ? '/operator/v1' : '/v1'
        const answer = await api.get(`${side}/deliveries/${encodeURIComponent(id)}/receipt`)
        if (call.isJson) call.print(JSON.stringify({ receipt: answer.text }))
        else call.print(answer.text)
      }),
    )
}

interface VerifyOptions {
  keys?: string
}

function verify(): Command {
  return plainCommand(
    'verify',
    'Check a receipt with the public keys of the service; exit 1 when it is not proven genuine.',
    [
      'paybell receipt verify receipt.jws',
      'paybell receipt verify receipt.jws --keys webhook-keys.json',
    ],
  )
    .argument('<file>', 'the receipt; - reads it from stdin')
    .option('--keys <file>', 'a saved /.well-known/webhook-keys.json: then no service is asked')
    .option('--url <url>', 'address of the service (PAYBELL_URL)', webUrl)
    .option('--json', JSON_HELP)
    .action(calling(verifyFile))
}

/** Of what is not proven. After a revocation no one can tell: it is called neither genuine nor forged. */
const VERDICTS = {
  'not-genuine': { genuine: false, text: 'The receipt is not genuine.' },
  'key-revoked': { genuine: null, text: 'The receipt cannot be verified.' },
} as const

async function verifyFile(call: Call<VerifyOptions>, file: string): Promise<void> {
  const jws = await readGivenOrInput(file)
  try {
    show(call, await verifyReceipt(jws, await readKeys(call)))
  } catch (error) {
    if (!(error instanceof PaybellError) || !(error.code in VERDICTS)) throw error
    const { genuine, text } = VERDICTS[error.code as keyof typeof VERDICTS]
    const { code, message: reason } = error
    if (call.isJson) call.print(JSON.stringify({ genuine, code, reason }))
    else call.print(call.paint.red(`${text} ${reason}`))
    throw new SilentFailure()
  }
}

async function readKeys({ options, target }: Call<VerifyOptions>): Promise<KeySet> {
  if (options.keys !== undefined) return readKeySet(options.keys)
  const api = await target.anyone()
  return toKeySet((await api.get(KEYS_PATH)).json(), `the answer of ${api.url}`)
}

function show(call: Call, receipt: Receipt): void {
  if (call.isJson) {
    call.print(JSON.stringify({ genuine: true, receipt }))
    return
  }
  call.print(call.paint.green('The receipt is genuine.'))
  call.fields(Object.entries(receipt).map(([name, value]) => [name, String(value)] as const))
}
