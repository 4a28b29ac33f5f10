/**
 * Completion scripts for bash, zsh and fish.
 * Owns their text and quoting; the words are handed in. Files are completed by the shell itself.
 */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
/** What is asked for the ids of runs: `parley completion runs`. */
export const RUNS = 'runs';
export type CompletionShell = (typeof SHELLS)[number];

export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  /** Commands below it, and words that its first argument may be. */
  readonly words: readonly string[];
  /** Its first argument is a run, whose ids the script asks for. */
  readonly takesRun: boolean;
  readonly flags: readonly CompletedFlag[];
}

export interface CompletedFlag {
  /** `--limit` or `-f`. */
  readonly name: string;
  readonly description: string;
  /** What its value may be; empty when it takes none, or any. */
  readonly choices: readonly string[];
}

type Completions = readonly CompletedCommand[];

export function completionScript(shell: CompletionShell, commands: Completions): string {
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return zsh(commands);
    case 'fish':
      return fish(commands);
  }
}

const flagNames = ({ flags }: CompletedCommand): readonly string[] => flags.map(({ name }) => name);

/** Values of flags, by the name of the flag; one choice per flag is the same in every command. */
function choicesOf(command: CompletedCommand): readonly CompletedFlag[] {
  return command.flags.filter(({ choices }) => choices.length > 0);
}

function bash(commands: Completions): string {
  const cases = commands.map((command) => {
    const values = choicesOf(command).map(
      ({ name, choices }) => `        ${name}) words="${choices.join(' ')}" ;;`,
    );
    const pick = [
      ...(values.length === 0 ? [] : ['      case "$previous" in', ...values, '      esac']),
      `      if [ -z "$words" ]; then words="${[...command.words, ...flagNames(command)].join(' ')}"; fi`,
      ...(command.takesRun
        ? [
            `      if [ "$COMP_CWORD" -eq 2 ]; then words="$words $("\${COMP_WORDS[0]}" completion ${RUNS} 2>/dev/null)"; fi`,
          ]
        : []),
    ];
    return [`    ${command.name})`, ...pick, '      ;;'].join('\n');
  });
  return [
    '# bash completion of parley',
    '_parley() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" words=""',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')}" -- "$current"))`,
    '    return',
    '  fi',
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -o default -F _parley parley',
    '',
  ].join('\n');
}

/** In single quotes; brackets and colons mean something to `_arguments` and `_describe`. */
const zshText = (text: string): string =>
  text.replaceAll("'", "'\\''").replaceAll(/[[\]:\\]/g, (character) => `\\${character}`);

function zsh(commands: Completions): string {
  const described = commands.map(({ name, summary }) => `    '${name}:${zshText(summary)}'`);
  const cases = commands.map((command) => {
    const flags = command.flags.map(({ name, description, choices }) => {
      const value = choices.length === 0 ? '' : `:value:(${choices.join(' ')})`;
      return `        '${name}[${zshText(description)}]${value}' \\`;
    });
    const words = command.takesRun
      ? `"1:run:(\${(f)$(parley completion ${RUNS} 2>/dev/null)})" '*:file:_files'`
      : command.words.length === 0
        ? "'*:file:_files'"
        : `'1:word:(${command.words.join(' ')})' '*:file:_files'`;
    return [`    ${command.name})`, '      _arguments \\', ...flags, `        ${words}`, '      ;;'].join(
      '\n',
    );
  });
  return [
    '#compdef parley',
    '_parley() {',
    '  local -a commands',
    '  commands=(',
    ...described,
    '  )',
    '  if (( CURRENT == 2 )); then',
    "    _describe 'command' commands",
    '    return',
    '  fi',
    '  local command=$words[2]',
    '  shift words',
    '  (( CURRENT-- ))',
    '  case $command in',
    ...cases,
    '  esac',
    '}',
    'if [ "$funcstack[1]" = "_parley" ]; then _parley "$@"; else compdef _parley parley; fi',
    '',
  ].join('\n');
}

const fishText = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function fish(commands: Completions): string {
  const lines = commands.flatMap((command) => {
    const seen = `-n '__fish_seen_subcommand_from ${command.name}'`;
    return [
      `complete -c parley -n __fish_use_subcommand -f -a ${command.name} -d ${fishText(command.summary)}`,
      ...command.words.map((word) => `complete -c parley ${seen} -a ${word}`),
      ...(command.takesRun
        ? [`complete -c parley ${seen} -a '(parley completion ${RUNS} 2>/dev/null)'`]
        : []),
      ...command.flags.map(({ name, description, choices }) => {
        const flag = name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`;
        const values = choices.length === 0 ? '' : ` -x -a ${fishText(choices.join(' '))}`;
        return `complete -c parley ${seen} ${flag}${values} -d ${fishText(description)}`;
      }),
    ];
  });
  return ['# fish completion of parley', ...lines, ''].join('\n');
}
