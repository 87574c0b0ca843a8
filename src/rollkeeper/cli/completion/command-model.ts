import type { Argument, Command, Option } from 'commander';

/** The commands and options, as far as completion and the reference need them. */
export interface CommandModel {
  readonly name: string;
  readonly description: string;
  readonly usage: string;
  readonly arguments: readonly ArgumentModel[];
  readonly options: readonly OptionModel[];
  readonly commands: readonly CommandModel[];
}

export interface ArgumentModel {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  readonly variadic: boolean;
  readonly choices: readonly string[];
}

export interface OptionModel {
  /** `-o, --output <form>` */
  readonly flags: string;
  /** `--output`, or the short one where it has no other. */
  readonly name: string;
  readonly short?: string;
  readonly description: string;
  readonly value: 'none' | 'optional' | 'required';
  readonly variadic: boolean;
  readonly choices: readonly string[];
  /** The default of those that the program gives itself; the others are in their descriptions. */
  readonly default?: string;
  readonly isRequired: boolean;
}

/** The commands as they are registered; hidden ones are left out. */
export function modelOf(command: Command): CommandModel {
  const help = command.createHelp();
  return {
    name: command.name(),
    description: command.description(),
    usage: command.usage(),
    arguments: command.registeredArguments.map(argumentOf),
    options: help.visibleOptions(command).map(optionOf),
    commands: help.visibleCommands(command).map(modelOf),
  };
}

function argumentOf(argument: Argument): ArgumentModel {
  return {
    name: argument.name(),
    description: argument.description,
    required: argument.required,
    variadic: argument.variadic,
    choices: argument.argChoices ?? [],
  };
}

function optionOf(option: Option): OptionModel {
  const { description, flags, long, mandatory, short, variadic } = option;
  const given: unknown = option.defaultValue;
  const isText = (typeof given === 'string' && given !== '') || typeof given === 'number';
  return {
    flags,
    name: long ?? short ?? flags,
    ...(short !== undefined && { short }),
    description,
    value: option.required ? 'required' : option.optional ? 'optional' : 'none',
    variadic,
    choices: option.argChoices ?? [],
    ...(isText && { default: String(given) }),
    isRequired: mandatory,
  };
}
