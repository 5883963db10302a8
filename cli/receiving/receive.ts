// `paybell receive`: a receiver to play with. Prints each callback, checks its signature, gives the
// answer that its options name.

import type { Command } from 'commander'
import { type Call, calling, plainCommand } from '../basics/command.ts'
import { durationOption, integer } from '../basics/parse.ts'
import { untilSignal } from '../basics/run.ts'
import { cellText, formatTime, type Paint, paintState } from '../basics/terminal.ts'
import { type HmacHeaderOptions, withHmacHeader } from './hmac-header.ts'
import { CallbackReceiver, type ReceivedCallback } from './receiver.ts'
import { findSharedKey, type SharedKeyOptions, withSharedKey } from './shared-key.ts'

interface ReceiveOptions extends SharedKeyOptions, HmacHeaderOptions {
  port: number
  status: number
  failFirst: number
  delay: number
  count?: number
  body?: boolean
}

export function receiveCommand(): Command {
  return withHmacHeader(
    withSharedKey(
      plainCommand(
        'receive',
        'Receive callbacks on this machine, print them, and fail on purpose if asked to.',
        [
          'paybell receive --shared-key only-we-two-know-this',
          'paybell receive --status 500',
          'paybell receive --fail-first 2 --shared-key-file key.txt --body',
        ],
      )
        .option('--port <n>', 'port on 127.0.0.1; 0 takes a free one', integer(0, 65_535), 8099)
        .option('--status <n>', 'what to answer; only 200 is success', integer(200, 599), 200)
        .option(
          '--fail-first <n>',
          'answer the first n callbacks with 500',
          integer(0, 1_000_000),
          0,
        )
        .addOption(durationOption('--delay <span>', 'wait before answering', '0s'))
        .option('--count <n>', 'stop after n callbacks', integer(1, 1_000_000_000))
        .option('--body', 'print the body, too')
        .option('--json', 'print JSON on stdout, a line for each callback'),
    ),
  ).action(calling(receive))
}

async function receive(call: Call<ReceiveOptions>): Promise<void> {
  const { options } = call
  const stopped = untilSignal()
  const enough = Promise.withResolvers<void>()
  let received = 0
  const receiver = new CallbackReceiver({
    port: options.port,
    status: options.status,
    failFirst: options.failFirst,
    delayMs: options.delay,
    sharedKey: await findSharedKey(call),
    hmacHeaderName: options.hmacHeaderName,
    onCallback: (callback) => {
      show(call, callback)
      if (++received === options.count) enough.resolve()
    },
  })
  await receiver.start()
  call.note(`Receiving at ${receiver.url} Stop with Ctrl-C.`)
  await Promise.race([stopped, enough.promise])
  await receiver.stop()
}

function show(call: Call<ReceiveOptions>, callback: ReceivedCallback): void {
  if (call.isJson) {
    const { body, ...rest } = callback
    call.print(JSON.stringify(call.options.body ? { ...rest, body: body.toString('utf8') } : rest))
    return
  }
  call.print(callbackText(callback, call.paint))
  if (call.options.body) call.print(callback.body.toString('utf8'))
}

function callbackText(callback: ReceivedCallback, paint: Paint): string {
  const { signature, isReplay, isTest, finding } = callback
  const parts = [
    formatTime(callback.at),
    cellText(callback.event),
    `sequence ${cellText(callback.sequence)}`,
    `attempt ${cellText(callback.attempt)}`,
    ...(isReplay ? ['replay'] : []),
    ...(isTest ? ['test'] : []),
    ...(signature === null
      ? []
      : [signature === 'holds' ? 'signature holds' : paint.red(`signature ${signature}`)]),
    `answered ${paintState(String(callback.answered), paint)}`,
  ]
  return parts.join('  ') + (finding ? `\n  ${finding}` : '')
}
