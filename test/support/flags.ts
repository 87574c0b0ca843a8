import { Command, InvalidArgumentError, Option } from 'commander';

/** One option of a script: what it is for, what it is without being said, and how it is read. */
export interface Flag<T> {
  readonly help: string;
  readonly fallback: T;
  /**
   * Absent: it takes no value, and saying it means yes.
   * @param before what it was said to be before, or the fallback
   * @throws InvalidArgumentError
   */
  readonly parse?: (text: string, before: unknown) => T;
}

export type FlagValues<Flags extends Readonly<Record<string, Flag<unknown>>>> = {
  readonly [Name in keyof Flags]: Flags[Name]['fallback'];
} & {
  /** Arguments that are no options, and those that follow `--`. */
  readonly rest: readonly string[];
};

export function text(help: string, fallback = ''): Flag<string> {
  return { help, fallback, parse: (given) => given };
}

/** One value each time that it is said. */
export function texts(help: string, fallback: readonly string[]): Flag<readonly string[]> {
  return {
    help,
    fallback,
    parse: (given, before) => (before === fallback ? [given] : [...(before as readonly string[]), given]),
  };
}

export function number(help: string, fallback: number): Flag<number> {
  return { help, fallback, parse: readNumber };
}

/** `0,60,260` */
export function numbers(help: string, fallback: readonly number[]): Flag<readonly number[]> {
  return { help, fallback, parse: (given) => given.split(',').map(readNumber) };
}

export function oneOf<T extends string>(help: string, choices: readonly T[], fallback: T): Flag<T> {
  return { help: withChoices(help, choices), fallback, parse: (given) => choose(given, choices) };
}

/** `light,embedded`; all of them unless it is given. */
export function listOf<T extends string>(help: string, choices: readonly T[]): Flag<readonly T[]> {
  const parse = (given: string): readonly T[] => given.split(',').map((each) => choose(each, choices));
  return { help: withChoices(help, choices), fallback: choices, parse };
}

export function yes(help: string): Flag<boolean> {
  return { help, fallback: false };
}

/** A seed that is another one each time, unless it is given. */
export function seed(): Flag<number> {
  return number('makes the same run again; printed at the start', Date.now() % 1_000_000);
}

/**
 * The options of a script, named `--like-this` for `likeThis`. `--help` shows them; one that is wrong ends the process with
 * a line that names it.
 * @param script how the script is started, `npm run fuzz --`
 */
export function readFlags<Flags extends Readonly<Record<string, Flag<unknown>>>>(
  script: string,
  flags: Flags,
  argv = process.argv,
): FlagValues<Flags> {
  const command = new Command(script).argument('[rest...]').helpOption('--help', 'show this');
  for (const [name, { fallback, help, parse }] of Object.entries(flags)) {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    const option = new Option(parse ? `${flag} <value>` : flag, help).default(fallback);
    command.addOption(parse ? option.argParser(parse) : option);
  }
  command.parse(argv);
  return { ...command.opts<Omit<FlagValues<Flags>, 'rest'>>(), rest: command.args } as FlagValues<Flags>;
}

function readNumber(given: string): number {
  const value = Number(given);
  if (given.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('must be a number, 0 or more.');
  return value;
}

function choose<T extends string>(given: string, choices: readonly T[]): T {
  const chosen = choices.find((choice) => choice === given);
  if (chosen === undefined) throw new InvalidArgumentError(`must be ${choices.join(' or ')}.`);
  return chosen;
}

function withChoices(help: string, choices: readonly string[]): string {
  return `${help} (${choices.join(', ')})`;
}
