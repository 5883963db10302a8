// `paybell completion SHELL`: a script that completes commands and options, made from the commands themselves. It
// starts no process while one types.

import type { Command } from 'commander'
import { plainCommand } from '../basics/command.ts'
import { oneOf } from '../basics/parse.ts'

/** What may follow the commands that were typed. */
interface CompletedCommand {
  /** The commands that lead here, `clients create`; empty at the beginning. */
  path: string
  commands: readonly Completed[]
  options: readonly Completed[]
}

interface Completed {
  word: string
  about: string
}

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

export function completionCommand(): Command {
  return plainCommand(
    'completion',
    'Print a script that completes commands and options in a shell.',
    [
      'paybell completion bash >> ~/.bashrc',
      'paybell completion zsh > ~/.zsh/_paybell    # a folder of $fpath',
      'paybell completion fish > ~/.config/fish/completions/paybell.fish',
    ],
  )
    .argument('<shell>', SHELLS.join(', '), oneOf(SHELLS))
    .action((shell: Shell, _options: unknown, command: Command) => {
      process.stdout.write(completionScript(shell, command.parent as Command))
    })
}

export function completionScript(shell: Shell, program: Command): string {
  return SCRIPTS[shell](completedOf(program))
}

function completedOf(program: Command, path = ''): CompletedCommand[] {
  const commands = program.commands.filter((command) => command.name() !== 'help')
  const here = {
    path,
    commands: commands.map((command) => toCompleted(command.name(), command.description())),
    options: [...program.options, { long: '--help', description: 'show help', hidden: false }]
      .filter(({ long, hidden }) => long && !hidden)
      .map(({ long, description }) => toCompleted(long as string, description)),
  }
  return [
    here,
    ...commands.flatMap((command) => completedOf(command, `${path} ${command.name()}`.trim())),
  ]
}

/** The first sentence, or what comes before a detail. */
function toCompleted(word: string, about: string): Completed {
  return { word, about: about.split(/[.;:(\n]/)[0]?.trim() ?? '' }
}

const SCRIPTS: Readonly<Record<Shell, (completed: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** The names that lead from one command to the next, as patterns of `case` over "where we are/word". */
function steps(completed: readonly CompletedCommand[]): string {
  const patterns = completed.flatMap(({ path, commands }) =>
    commands.map(({ word }) => `"${path}/${word}"`),
  )
  return patterns.join('|')
}

function bashScript(completed: readonly CompletedCommand[]): string {
  const cases = completed.map(({ path, commands, options }) => {
    const words = [...commands, ...options].map(({ word }) => word)
    return `    "${path}") words="${words.join(' ')}" ;;`
  })
  return `# Completes paybell in bash.
_paybell() {
  local at="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at/$word" in
      ${steps(completed)}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _paybell paybell
`
}

function zshScript(completed: readonly CompletedCommand[]): string {
  const cases = completed.map(({ path, commands, options }) => {
    const words = [...commands, ...options].map(({ word, about }) => quoted(`${word}:${about}`))
    return `    "${path}") choices=(${words.join(' ')}) ;;`
  })
  return `#compdef paybell
# Completes paybell in zsh.
_paybell() {
  local at="" word
  local -a words_before=("\${(@)words[2,CURRENT-1]}")
  for word in $words_before; do
    case "$at/$word" in
      ${steps(completed)}) at="\${at:+$at }$word" ;;
    esac
  done
  local -a choices
  case "$at" in
${cases.join('\n')}
  esac
  _describe -o paybell choices
  _files
}
if [ "$funcstack[1]" = "_paybell" ]; then _paybell "$@"; else compdef _paybell paybell; fi
`
}

function fishScript(completed: readonly CompletedCommand[]): string {
  const lines = completed.flatMap(({ path, commands, options }) => {
    const here = `complete -c paybell -n '__paybell_at "${path}"'`
    return [
      ...commands.map(({ word, about }) => `${here} -f -a ${word} -d ${quoted(about)}`),
      ...options.map(({ word, about }) => `${here} -l ${word.slice(2)} -d ${quoted(about)}`),
    ]
  })
  return `# Completes paybell in fish.
function __paybell_at
  set -l at ""
  for word in (commandline -opc)[2..-1]
    switch "$at/$word"
      case ${steps(completed).replaceAll('|', ' ')}
        set at (string trim "$at $word")
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`
}
