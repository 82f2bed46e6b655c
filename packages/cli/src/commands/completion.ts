// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are shell, not templates
import type { Command } from "commander";
import type { AddCommand } from "./add-command.ts";

/** `seneschal completion bash|zsh`: a script that completes commands and options, made from the program itself. */
export const addCompletion: AddCommand = (program, { result }) => {
  program
    .command("completion")
    .description('print a completion script: eval "$(seneschal completion bash)"')
    .argument("<shell>", "bash or zsh")
    .action((shell: string, _options, command: Command) => {
      if (shell !== "bash" && shell !== "zsh") command.error(`no completion for ${shell}: bash or zsh`);
      const script = bashScript(words(program));
      const text = shell === "zsh" ? `autoload -U +X bashcompinit && bashcompinit\n${script}` : script;
      result({ shell, script: text }, text);
    });
};

interface Words {
  /** `""` is the program itself, `"policy check"` a sub-command. */
  readonly [path: string]: readonly string[];
}

function words(program: Command): Words {
  const all: Record<string, readonly string[]> = {};
  const visit = (command: Command, path: string): void => {
    all[path] = [...command.commands.map((sub) => sub.name()), ...command.options.map((option) => option.long ?? option.flags)];
    for (const sub of command.commands) visit(sub, path === "" ? sub.name() : `${path} ${sub.name()}`);
  };
  visit(program, "");
  return all;
}

function bashScript(all: Words): string {
  const cases = Object.entries(all).map(([path, list]) => `    "${path}") words="${list.join(" ")}" ;;`);
  const paths = Object.keys(all).filter((path) => path !== "");
  return [
    "_seneschal() {",
    '  local path="" word words=""',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    // What is no command is an option, its value or an argument.
    `    case "\${path:+$path }$word" in ${paths.map((path) => `"${path}"`).join("|")}) path="\${path:+$path }$word" ;; esac`,
    "  done",
    '  case "$path" in',
    ...cases,
    "  esac",
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))',
    "}",
    "complete -F _seneschal seneschal",
  ].join("\n");
}
