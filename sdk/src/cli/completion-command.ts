import { UsageError } from './arguments.js';
import type { Command } from './command.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
const PROGRAM = 'device-insights';

/** The words that complete each command. */
type Words = Readonly<Record<string, readonly string[]>>;

/** Prints a completion script. `commands` is called when it runs, so that this command is included. */
export function completionCommand(commands: () => readonly Command[], common: Command['options']): Command {
  return {
    name: 'completion',
    usage: `completion bash|zsh|fish
      Prints a completion script, for example: eval "$(${PROGRAM} completion bash)"; in fish: ${PROGRAM} completion fish | source`,
    options: {},
    takesWord: true,
    run: async (args, { print }) => {
      const shell = SHELLS.find((known) => known === args.positionals[0]);
      if (!shell) throw new UsageError(`completion needs a shell: ${SHELLS.join(', ')}`);
      const words = Object.fromEntries(
        commands().map(({ name, options }) => [name, Object.keys({ ...common, ...options }).map((one) => `--${one}`)]),
      );
      await print(shell === 'fish' ? fishScript(words) : shellScript(words, shell));
    },
  };
}

/** zsh can read scripts of bash. */
function shellScript(words: Words, shell: 'bash' | 'zsh'): string {
  const cases = Object.entries(words).map(([name, options]) => `    ${name}) words="${options.join(' ')}" ;;`);
  const preamble = shell === 'zsh' ? ['autoload -Uz compinit bashcompinit', 'compinit', 'bashcompinit'] : [];
  return [
    ...preamble,
    '_device_insights() {',
    `  local words="${[...Object.keys(words), '--help', '--version'].join(' ')}"`,
    `  [ "$COMP_CWORD" -gt 1 ] && case "\${COMP_WORDS[1]}" in`,
    ...cases,
    '    *) words="" ;;',
    '  esac',
    `  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))`,
    '}',
    `complete -o default -F _device_insights ${PROGRAM}`,
  ].join('\n');
}

function fishScript(words: Words): string {
  const names = Object.keys(words);
  return [
    `complete -c ${PROGRAM} -n __fish_use_subcommand -f -a "${names.join(' ')}"`,
    `complete -c ${PROGRAM} -n __fish_use_subcommand -l help -l version`,
    ...names.flatMap((name) =>
      (words[name] ?? []).map(
        (option) => `complete -c ${PROGRAM} -n "__fish_seen_subcommand_from ${name}" -l ${option.slice(2)}`,
      ),
    ),
  ].join('\n');
}
