// `paybell mcp`: lets an assistant look into deliveries, with the caller's own rights.

import type { Command } from 'commander'
import { type Call, calling, readerCommand } from '../basics/command.ts'

export function mcpCommand(): Command {
  return readerCommand(
    'mcp',
    'Let an assistant look into payments and deliveries: a Model Context Protocol server on stdio.',
    ['paybell mcp', 'paybell mcp --profile ops --allow-writes'],
  )
    .option('--allow-writes', 'also retry, replay, pause and resume')
    .addHelpText(
      'after',
      '\nWithout --allow-writes nothing can be changed. An assistant starts it with: {"command": "paybell", "args": ["mcp"]}',
    )
    .action(
      calling(async (call: Call<{ allowWrites?: boolean }>) => {
        call.target.actAs('paybell-mcp')
        const caller = await call.target.reader()
        // Loaded only here: no other command pays for it.
        const { serveTools } = await import('../mcp/tool-server.ts')
        await serveTools(caller, call.options.allowWrites === true)
      }),
    )
}
